#include "expr/lane_tape.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/kept_work.h"
#include "expr/tape_machine.h"
#include "expr/tape_program.h"

namespace saltus {
namespace {

// By program, which stays alive.
struct KeptLanes {
  std::map<std::pair<const Tape::Program*, std::vector<bool>>,
           std::pair<std::shared_ptr<const Tape::Program>, std::shared_ptr<const MachineCode>>>
      code;
};

std::shared_ptr<const MachineCode> code_for_lanes(
    const std::shared_ptr<const Tape::Program>& program, const std::vector<bool>& uniform) {
  KeptWork* kept = KeptWork::current();
  if (kept == nullptr) return compile_lanes(*program, uniform);
  constexpr std::size_t kMost = 10000;
  KeptLanes& lanes = kept->table<KeptLanes>();
  if (lanes.code.size() >= kMost) lanes.code.clear();
  const auto [place, is_new] = lanes.code.try_emplace({program.get(), uniform});
  if (is_new) place->second = {program, compile_lanes(*program, uniform)};
  return place->second.second;
}

}  // namespace

LaneTape::LaneTape() : LaneTape(Tape(), {}) {}

LaneTape::LaneTape(const Tape& tape, const std::vector<bool>& uniform, TapeCode code)
    : tape_(tape) {
  if (code == TapeCode::kMachine) machine_code_ = code_for_lanes(tape.program_, uniform);
  if (machine_code_ != nullptr) return;
  // The inputs in use become one group, which is put together for each lane.
  auto gathered = std::make_shared<Tape::Program>(*tape.program_);
  for (TapeInput& input : gathered->inputs) {
    const std::size_t width = uniform[input.group] ? 1 : kLanes;
    inputs_.push_back({input.group, width * input.index, uniform[input.group] ? 0U : 1U});
    input = {0, static_cast<std::uint32_t>(inputs_.size() - 1)};
  }
  if (gathered->machine_code != nullptr) gathered->machine_code = compile(*gathered);
  tape_.program_ = std::move(gathered);
}

std::size_t LaneTape::output_count() const { return tape_.output_count(); }

// With machine code: the register file. Else: that of the tape, its inputs, its outputs.
LaneTape::Workspace LaneTape::make_workspace() const {
  const Tape::Program& program = *tape_.program_;
  if (machine_code_ == nullptr) {
    Workspace workspace = tape_.make_workspace();
    workspace.resize(workspace.size() + inputs_.size() + program.outputs.size());
    return workspace;
  }
  Workspace workspace(kLanes * program.register_count);
  for (std::size_t i = 0; i < program.constants.size(); ++i)
    std::fill_n(workspace.begin() + static_cast<std::ptrdiff_t>(kLanes * i), kLanes,
                program.constants[i]);
  return workspace;
}

void LaneTape::evaluate(const double* const* values, Workspace& workspace,
                        double* outputs) const noexcept {
  if (machine_code_ != nullptr) {
    machine_code_->entry<TapeFunction>()(workspace.data(), values, outputs);
  } else {
    evaluate_one_by_one(values, workspace, outputs);
  }
}

void LaneTape::evaluate_one_by_one(const double* const* values, Workspace& workspace,
                                   double* outputs) const noexcept {
  double* const in = workspace.data() + tape_.program_->register_count;
  double* const out = in + inputs_.size();
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      in[i] = values[inputs_[i].group][inputs_[i].first + lane * inputs_[i].step];
    const double* const group[] = {in};
    tape_.evaluate(group, workspace, out);
    for (std::size_t i = 0; i < output_count(); ++i) outputs[kLanes * i + lane] = out[i];
  }
}

}  // namespace saltus
