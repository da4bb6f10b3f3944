#include "oracle/random_machine.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <sstream>

namespace saltus::oracle {
namespace {

constexpr double kZero = 1e-9;      // what is smaller is at its threshold
constexpr double kDelicate = 1e-6;  // s
constexpr int kMostHops = 40;       // at one instant

struct Condition {
  enum Kind { kTimeInState, kTime, kAbove, kBelow } kind = kTimeInState;
  double threshold = 0.0;
};

struct MachineSpec;

struct StateSpec {
  std::string name;
  double rate = 1.0;     // of x
  double start = 0.0;    // of x
  bool has_own = false;  // a variable `own_<name>` that other states lack
  double own_rate = 1.0, own_start = 0.0;
  bool sets = false;  // initial equation x = entry
  double entry = 0.0;
  bool resets = false;  // when activeState: reinit(x, reset_to)
  double reset_to = 0.0;
  std::unique_ptr<MachineSpec> inner;
};

struct TransitionSpec {
  std::size_t from = 0, to = 0;
  std::vector<Condition> all_of;
  bool immediate = true, reset = true, synchronize = false;
  int priority = 1;
};

struct MachineSpec {
  std::vector<StateSpec> states;
  std::vector<TransitionSpec> transitions;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double number(double from, double to) {
    // Three decimals, so that the text holds the very number.
    return std::round(1000.0 * (from + (to - from) * unit())) / 1000.0;
  }
  bool chance(double p) { return unit() < p; }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(unit() * double(n)) % n; }

 private:
  double unit() { return double(engine_() >> 11) * 0x1.0p-53; }
  std::mt19937_64 engine_;
};

MachineSpec make_machine(Random& random, const std::string& prefix, bool nested) {
  MachineSpec machine;
  const std::size_t count = 2 + random.below(3);
  for (std::size_t k = 0; k < count; ++k) {
    StateSpec s;
    s.name = prefix + std::string(1, static_cast<char>('a' + k));
    s.rate = random.number(-3.0, 3.0);
    s.start = random.number(-1.0, 1.0);
    s.has_own = random.chance(0.5);
    s.own_rate = random.number(-2.0, 2.0);
    s.own_start = random.number(-1.0, 1.0);
    s.sets = k > 0 && random.chance(0.2);
    s.entry = random.number(-1.0, 1.0);
    s.resets = random.chance(0.2);
    s.reset_to = random.number(-1.0, 1.0);
    // The inner machine of any state has states of the same names: they are namesakes.
    if (nested && random.chance(0.6))
      s.inner = std::make_unique<MachineSpec>(make_machine(random, "in_", false));
    machine.states.push_back(std::move(s));
  }
  for (std::size_t from = 0; from < count; ++from) {
    const std::size_t ways = random.below(3) + (from == 0 ? 1 : 0);
    for (std::size_t k = 0; k < ways; ++k) {
      TransitionSpec t;
      t.from = from;
      t.to = random.below(count);
      const auto threshold = [&] {
        const bool above = random.chance(0.5);
        return Condition{above ? Condition::kAbove : Condition::kBelow, random.number(-1.5, 1.5)};
      };
      const double kind = random.number(0.0, 1.0);
      if (kind < 0.45) {
        t.all_of = {{Condition::kTimeInState, random.number(0.05, 0.8)}};
        if (random.chance(0.3)) t.all_of.push_back(threshold());
      } else if (kind < 0.6) {
        t.all_of = {{Condition::kTime, random.number(0.1, 3.0)},
                    {Condition::kTimeInState, random.number(0.02, 0.3)}};
      } else {
        t.all_of = {threshold()};
        if (random.chance(0.3))
          t.all_of.push_back({Condition::kTimeInState, random.number(0, 0.5)});
      }
      t.immediate = !random.chance(0.2);
      t.reset = random.chance(0.6);
      t.synchronize = machine.states[from].inner != nullptr && random.chance(0.3);
      t.priority = 1 + static_cast<int>(random.below(3));
      machine.transitions.push_back(std::move(t));
    }
  }
  // What no transition leads to would be no state.
  for (std::size_t to = 1; to < count; ++to) {
    const auto leads_there = [&](const TransitionSpec& t) { return t.from < to && t.to == to; };
    if (std::ranges::any_of(machine.transitions, leads_there)) continue;
    TransitionSpec t;
    t.from = random.below(to);
    t.to = to;
    t.all_of = {{Condition::kTimeInState, random.number(0.05, 0.8)}};
    t.priority = 1 + static_cast<int>(random.below(3));
    machine.transitions.push_back(std::move(t));
  }
  return machine;
}

std::string condition_text(const TransitionSpec& t, const std::string& state) {
  std::ostringstream out;
  for (std::size_t k = 0; k < t.all_of.size(); ++k) {
    const Condition& c = t.all_of[k];
    if (k > 0) out << " and ";
    switch (c.kind) {
      case Condition::kTimeInState:
        out << "timeInState() > " << c.threshold;
        break;
      case Condition::kTime:
        out << "time > " << c.threshold;
        break;
      case Condition::kAbove:
        out << state << ".x > " << c.threshold;
        break;
      case Condition::kBelow:
        out << state << ".x < " << c.threshold;
        break;
    }
  }
  return out.str();
}

void write_machine_text(const MachineSpec& machine, const std::string& class_prefix,
                        std::ostream& out, bool counts) {
  for (const StateSpec& s : machine.states) {
    const std::string type = class_prefix + s.name;
    out << "  model " << type << "\n";
    out << "    Real x(start = " << s.start << ");\n";
    if (s.has_own) out << "    Real own_" << s.name << "(start = " << s.own_start << ");\n";
    if (s.inner != nullptr) write_machine_text(*s.inner, type + "_", out, false);
    if (s.sets) out << "  initial equation\n    x = " << s.entry << ";\n";
    out << "  equation\n    der(x) = " << s.rate << ";\n";
    if (s.has_own) out << "    der(own_" << s.name << ") = " << s.own_rate << ";\n";
    if (s.inner != nullptr) {
      out << "    initialState(" << s.inner->states[0].name << ");\n";
      for (const TransitionSpec& t : s.inner->transitions)
        out << "    transition(" << s.inner->states[t.from].name << ", "
            << s.inner->states[t.to].name << ", " << condition_text(t, s.inner->states[t.from].name)
            << ", immediate = " << (t.immediate ? "true" : "false")
            << ", reset = " << (t.reset ? "true" : "false") << ", priority = " << t.priority
            << ");\n";
    }
    out << "  end " << type << ";\n";
  }
  for (const StateSpec& s : machine.states)
    out << "  " << class_prefix << s.name << " " << s.name << ";\n";
  if (!counts) return;
  for (const StateSpec& s : machine.states)
    out << "  Integer n_" << s.name << "(start = 0, fixed = true);\n";
}

std::string write_model(const MachineSpec& machine) {
  std::ostringstream out;
  out.precision(17);
  out << "model M\n";
  write_machine_text(machine, "T", out, true);
  out << "equation\n  initialState(" << machine.states[0].name << ");\n";
  for (const TransitionSpec& t : machine.transitions)
    out << "  transition(" << machine.states[t.from].name << ", " << machine.states[t.to].name
        << ", " << condition_text(t, machine.states[t.from].name)
        << ", immediate = " << (t.immediate ? "true" : "false")
        << ", reset = " << (t.reset ? "true" : "false")
        << ", synchronize = " << (t.synchronize ? "true" : "false") << ", priority = " << t.priority
        << ");\n";
  for (const StateSpec& s : machine.states) {
    out << "  when activeState(" << s.name << ") then\n    n_" << s.name << " = pre(n_" << s.name
        << ") + 1;\n";
    if (s.resets) out << "    reinit(" << s.name << ".x, " << s.reset_to << ");\n";
    out << "  end when;\n";
  }
  out << "end M;\n";
  return out.str();
}

// Follows a machine and those inside its states.
class Interpreter {
 public:
  Interpreter(const MachineSpec& machine, double start, double stop, MachineRun& run)
      : top_(machine), time_(start), stop_(stop), run_(run) {
    prepare(machine, "");
  }

  void follow() {
    settle();
    while (!run_.ends_in_a_circle && time_ < stop_) {
      const double next = next_candidate();
      advance(std::min(next, stop_));
      if (time_ >= stop_) break;
      settle();
    }
    finish();
  }

 private:
  struct Memory {
    const MachineSpec* machine = nullptr;
    std::size_t active = 0;
    double in_state = 0.0;  // s
  };
  struct Value {
    double now = 0.0, start = 0.0, rate = 0.0;
  };

  void prepare(const MachineSpec& machine, const std::string& path) {
    memory_[path] = {&machine, 0, 0.0};
    for (const StateSpec& s : machine.states) {
      const std::string at = path + s.name + ".";
      values_[at + "x"] = {s.start, s.start, s.rate};
      if (s.has_own) values_[at + "own_" + s.name] = {s.own_start, s.own_start, s.own_rate};
      if (s.inner != nullptr) prepare(*s.inner, at);
    }
  }

  // Machines in force, outer ones first.
  std::vector<std::string> in_force() const {
    std::vector<std::string> paths;
    std::string path;
    for (;;) {
      paths.push_back(path);
      const Memory& m = memory_.at(path);
      const StateSpec& s = m.machine->states[m.active];
      if (s.inner == nullptr) return paths;
      path += s.name + ".";
    }
  }

  bool holds(const Condition& c, const std::string& path) const {
    const Memory& m = memory_.at(path);
    const Value& x = values_.at(path + m.machine->states[m.active].name + ".x");
    double value = 0.0;
    double slope = 1.0;
    switch (c.kind) {
      case Condition::kTimeInState:
        value = m.in_state - c.threshold;
        break;
      case Condition::kTime:
        value = time_ - c.threshold;
        break;
      case Condition::kAbove:
        value = x.now - c.threshold;
        slope = x.rate;
        break;
      case Condition::kBelow:
        value = c.threshold - x.now;
        slope = -x.rate;
        break;
    }
    return std::abs(value) > kZero ? value > 0.0 : slope > 0.0;
  }

  bool inner_is_final(const std::string& path) const {
    const auto found = memory_.find(path);
    if (found == memory_.end()) return true;
    const Memory& m = found->second;
    for (const TransitionSpec& t : m.machine->transitions)
      if (t.from == m.active) return false;
    return true;
  }

  const TransitionSpec* transition_of(const std::string& path) const {
    const Memory& m = memory_.at(path);
    const TransitionSpec* first = nullptr;
    for (const TransitionSpec& t : m.machine->transitions) {
      if (t.from != m.active) continue;
      if (!std::all_of(t.all_of.begin(), t.all_of.end(),
                       [&](const Condition& c) { return holds(c, path); }))
        continue;
      if (t.synchronize && !inner_is_final(path + m.machine->states[m.active].name + ".")) continue;
      if (first == nullptr || t.priority < first->priority) first = &t;
    }
    return first;
  }

  void settle() {
    for (int hops = 0;; ++hops) {
      if (hops > kMostHops) {
        run_.ends_in_a_circle = true;
        return;
      }
      bool any = false;
      for (const std::string& path : in_force()) {
        const TransitionSpec* t = transition_of(path);
        if (t == nullptr) continue;
        take(*t, path);
        any = true;
        break;  // what is inside belongs to another state now
      }
      if (!any) return;
    }
  }

  void take(const TransitionSpec& t, const std::string& path) {
    Memory& m = memory_.at(path);
    const std::string from = path + m.machine->states[t.from].name + ".";
    const std::string to = path + m.machine->states[t.to].name + ".";
    std::map<std::string, double> handed;
    for (const auto& [name, value] : values_) {
      if (name.compare(0, to.size(), to) != 0) continue;
      const auto namesake = values_.find(from + name.substr(to.size()));
      if (from != to && namesake != values_.end())
        handed[name] = namesake->second.now;
      else if (t.reset)
        handed[name] = value.start;
    }
    for (const auto& [name, value] : handed) values_.at(name).now = value;
    give_initial(m.machine->states[t.to], to, t.reset);
    m.active = t.to;
    m.in_state = 0.0;
    const StateSpec& entered = m.machine->states[t.to];
    if (path.empty() && entered.resets) values_.at(to + "x").now = entered.reset_to;
    run_.entered.push_back(path + entered.name);
    run_.times.push_back(time_);
    if (path.empty()) run_.entry_count["n_" + entered.name] += 1.0;
  }

  void give_initial(const StateSpec& s, const std::string& path, bool restarts) {
    if (s.sets) values_.at(path + "x").now = s.entry;
    if (s.inner == nullptr) return;
    Memory& inner = memory_.at(path);
    if (restarts) inner = {s.inner.get(), 0, 0.0};
    for (const StateSpec& part : s.inner->states)
      give_initial(part, path + part.name + ".", restarts);
  }

  // The next time at which some condition may change, beyond rounding of the present one.
  double next_candidate() {
    double next = stop_ + 1.0;
    double second = next;
    const auto offer = [&](double t) {
      if (t <= time_ + kZero) return;
      if (t < next) {
        second = next;
        next = t;
      } else if (t > next + kZero) {
        second = std::min(second, t);
      }
    };
    for (const std::string& path : in_force()) {
      const Memory& m = memory_.at(path);
      const Value& x = values_.at(path + m.machine->states[m.active].name + ".x");
      for (const TransitionSpec& t : m.machine->transitions) {
        if (t.from != m.active) continue;
        for (const Condition& c : t.all_of) switch (c.kind) {
            case Condition::kTimeInState:
              offer(time_ + c.threshold - m.in_state);
              break;
            case Condition::kTime:
              offer(c.threshold);
              break;
            default:
              if (x.rate != 0.0) offer(time_ + (c.threshold - x.now) / x.rate);
          }
      }
    }
    if (second - next < kDelicate || std::abs(next - stop_) < kDelicate) run_.is_delicate = true;
    return next;
  }

  void advance(double to) {
    const double dt = to - time_;
    time_ = to;
    for (const std::string& path : in_force()) {
      Memory& m = memory_.at(path);
      m.in_state += dt;
      const StateSpec& s = m.machine->states[m.active];
      for (const std::string& name : {std::string("x"), "own_" + s.name}) {
        const auto found = values_.find(path + s.name + "." + name);
        if (found != values_.end()) found->second.now += dt * found->second.rate;
      }
    }
  }

  void finish() {
    std::map<std::string, bool> exists;
    for (const std::string& path : in_force()) {
      const Memory& m = memory_.at(path);
      const StateSpec& s = m.machine->states[m.active];
      exists[path + s.name + ".x"] = true;
      exists[path + s.name + ".own_" + s.name] = true;
    }
    for (const auto& [name, value] : values_) {
      if (exists.contains(name))
        run_.final[name] = value.now;
      else
        run_.absent.push_back(name);
    }
  }

  const MachineSpec& top_;
  double time_, stop_;
  MachineRun& run_;
  std::map<std::string, Memory> memory_;  // by path of the state around
  std::map<std::string, Value> values_;
};

}  // namespace

RandomMachine random_machine(std::uint64_t seed, bool nested) {
  Random random(seed);
  const MachineSpec machine = make_machine(random, "", nested);
  RandomMachine made;
  made.text = write_model(machine);
  made.start_time = random.chance(0.3) ? random.number(-2.0, 2.0) : 0.0;
  made.stop_time = made.start_time + 3.0 + 0.000123;
  // The initial state starts from its start value, or from its initial equation.
  for (const StateSpec& s : machine.states) made.expected.entry_count["n_" + s.name] = 0.0;
  Interpreter(machine, made.start_time, made.stop_time, made.expected).follow();
  return made;
}

}  // namespace saltus::oracle
