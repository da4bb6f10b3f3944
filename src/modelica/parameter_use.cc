#include "modelica/parameter_use.h"

namespace saltus {
namespace {

thread_local ParameterUse* under_way = nullptr;

}  // namespace

ParameterUse::ParameterUse() : outer_(under_way) { under_way = this; }
ParameterUse::~ParameterUse() { under_way = outer_; }
ParameterUse* ParameterUse::present() { return under_way; }

ParameterUse::Pause::Pause() : paused_(under_way) { under_way = nullptr; }
ParameterUse::Pause::~Pause() { under_way = paused_; }

}  // namespace saltus
