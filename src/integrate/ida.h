#pragma once

#include <memory>

#include "integrate/integrator.h"

namespace saltus {

// Variable-order BDF by SUNDIALS IDA behind the Integrator interface. A multistep method: it
// restarts at order 1 after every event. `dae` and `data` must outlive the integrator.
std::unique_ptr<Integrator> make_ida(const Dae& dae, DaeData& data, IntegratorOptions options);

}  // namespace saltus
