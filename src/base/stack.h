#pragma once

#include <cstddef>
#include <functional>

namespace saltus {

// Whether little is left of the stack of this thread. To be asked by every function that calls
// itself along something whose depth the user chooses (expressions, values that refer to each
// other): an overflow would end the program, an Error does not.
bool stack_is_low();

// Calls `work` on a stack of so many bytes, or on the present one where the system grants no other.
// What it throws is thrown here.
void call_with_stack(std::size_t bytes, const std::function<void()>& work);

}  // namespace saltus
