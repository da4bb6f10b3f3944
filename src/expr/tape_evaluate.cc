#include <cmath>
#include <cstring>

#include "expr/tape_machine.h"
#include "expr/tape_program.h"

// Loops are often two or three long: vectorising them or computing their end values costs more than
// the work, and wide loads of values stored one by one a moment ago have to wait.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-vectorize", "no-tree-loop-distribute-patterns", "no-tree-scev-cprop")
#endif

namespace saltus {

namespace {

constexpr std::uint32_t kLongCopy = 16;  // from here on a call of memcpy pays

inline double* copy(const double* from, std::uint32_t count, double* to) noexcept {
  if (count >= kLongCopy) {
    std::memcpy(to, from, count * sizeof(double));
    return to + count;
  }
  for (; count >= 4; count -= 4, from += 4, to += 4) {
    const double a = from[0];
    const double b = from[1];
    const double c = from[2];
    const double d = from[3];
    to[0] = a;
    to[1] = b;
    to[2] = c;
    to[3] = d;
  }
  for (; count != 0; --count) *to++ = *from++;
  return to;
}

}  // namespace

// A jump from each operation to the next is predicted better than one jump for all, as a switch
// has.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
// These macros are statements, which take no parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define SALTUS_NEXT goto* labels[*p]

#define SALTUS_READ1 const double a = r[p[0]];
#define SALTUS_READ2 SALTUS_READ1 const double b = r[p[1]];
#define SALTUS_READ3 SALTUS_READ2 const double c = r[p[2]];
#define SALTUS_READ4 SALTUS_READ3 const double d = r[p[3]];

void Tape::evaluate(const double* const* values, Workspace& workspace,
                    double* outputs) const noexcept {
#define SALTUS_LABELS(name, ...) &&one_##name, &&run_##name, &&out_##name, &&out_run_##name,
  static const void* const labels[] = {SALTUS_TAPE_PLAIN(SALTUS_LABELS) && table,
                                       &&table,
                                       &&table,
                                       &&table,
                                       &&call,
                                       &&call,
                                       &&call,
                                       &&call,
                                       SALTUS_TAPE_FUSED(SALTUS_LABELS) && gather,
                                       &&end};
#undef SALTUS_LABELS
  const Program& program = *program_;
  if (program.machine_code != nullptr) {
    program.machine_code->entry()(workspace.data(), values, outputs);
    return;
  }
  double* const r = workspace.data();
  double* to = r + program.constants.size();
  for (const TapeCopy& c : program.copies) to = copy(values[c.group] + c.first, c.count, to);
  const std::uint32_t* p = program.code.data();
  SALTUS_NEXT;

#define SALTUS_ONE(arity, ...) \
  {                            \
    SALTUS_READ##arity;        \
    *to++ = __VA_ARGS__;       \
    p += arity;                \
  }
#define SALTUS_OUT(arity, ...)        \
  {                                   \
    SALTUS_READ##arity;               \
    const double value = __VA_ARGS__; \
    *to++ = value;                    \
    outputs[p[arity]] = value;        \
    p += arity + 1;                   \
  }
#define SALTUS_RUN(step)            \
  {                                 \
    double* const stop = to + p[1]; \
    p += 2;                         \
    do step while (to != stop);     \
  }
#define SALTUS_DO(name, arity, ...)                                    \
  one_##name : ++p;                                                    \
  SALTUS_ONE(arity, __VA_ARGS__)                                       \
  SALTUS_NEXT;                                                         \
  run_##name : SALTUS_RUN(SALTUS_ONE(arity, __VA_ARGS__)) SALTUS_NEXT; \
  out_##name : ++p;                                                    \
  SALTUS_OUT(arity, __VA_ARGS__)                                       \
  SALTUS_NEXT;                                                         \
  out_run_##name : SALTUS_RUN(SALTUS_OUT(arity, __VA_ARGS__)) SALTUS_NEXT;
  SALTUS_TAPE_PLAIN(SALTUS_DO)
  SALTUS_TAPE_FUSED(SALTUS_DO)
table : {
  const TapeLookup& lookup = program.lookups[p[2]];
  *to++ = lookup.table->evaluate(r[p[1]], lookup.order);
  p += 3;
}
  SALTUS_NEXT;
call : {
  const Function& function = *program.functions[p[1]];
  double* const arguments = r + program.register_count - function.arity;
  for (std::size_t i = 0; i < function.arity; ++i) arguments[i] = r[p[2 + i]];
  *to++ = function.evaluate(arguments);
  p += 2 + function.arity;
}
  SALTUS_NEXT;
gather : {
  const std::uint32_t* const stop = p + p[1];
  p += 2;
  for (; stop - p >= 4; p += 4) {
    const double first = r[p[0]];
    const double second = r[p[2]];
    outputs[p[1]] = first;
    outputs[p[3]] = second;
  }
  if (p != stop) outputs[p[1]] = r[p[0]];
}
end:
  return;
}

// NOLINTEND(bugprone-macro-parentheses)
#pragma GCC diagnostic pop

}  // namespace saltus
