#include "simulate/messages.h"

#include <charconv>

#include "base/placeholder.h"

namespace saltus {

Messages::Messages(const HybridSystem& system)
    : model_(system.flat()->reduced), printed_(model_.printings.size(), 0.0) {
  std::vector<Expr> values;
  for (const TextValue& v : model_.text_values) values.push_back(v.value);
  tape_ = Tape(values, state_inputs(system), TapeCode::kInterpreted);
  registers_ = tape_.make_workspace();
  values_.resize(values.size());
  for (const Parameter& p : system.parameters()) parameters_.push_back(p.value);
}

std::string Messages::filled(const std::string& text, double t, const SystemState& state) {
  if (!values_.empty()) {
    const double* inputs[] = {&t, state.values.data(), state.slopes.data(), parameters_.data(),
                              state.slots.data()};
    tape_.evaluate(inputs, registers_, values_.data());
  }
  return fill_placeholders(text, [&](const std::string& number) {
    std::size_t k = 0;
    std::from_chars(number.data(), number.data() + number.size(), k);
    return k < values_.size() ? model_.text_values[k].text(values_[k]) : number;
  });
}

void Messages::print(double t, const SystemState& state, const Printer& printer) {
  for (std::size_t k = 0; k < printed_.size(); ++k) {
    const Printing& printing = model_.printings[k];
    // What is no matter of events is printed once.
    const double count = printing.count.is_number() ? 1.0 : state.value_of(printing.count);
    if (count == printed_[k]) continue;
    printed_[k] = count;
    if (printer) printer(filled(printing.text, t, state), printing.file);
  }
}

}  // namespace saltus
