#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "expr/function.h"
#include "modelica/flattener.h"

namespace saltus {

// annotation(derivative(order = 1, zeroDerivative = k, noDerivative = q) = f_der)
struct DerivativeAnnotation {
  Name function;
  int order = 1;
  std::vector<std::string> zero;  // valid only if these inputs do not change
  std::vector<std::string> none;  // these inputs have no derivative that counts

  bool leaves_out(const std::string& input) const;
};

// All of a function, in order; none if it is to be inlined before anything is differentiated.
std::vector<DerivativeAnnotation> derivative_annotations(const ClassDefinition& function);

// A call of a function that names its derivative. The value is the function's own, and so are its
// Jacobians (Newton solves for the value), but differentiating by time asks the derivative
// function: the two differ where an input counts as having no derivative.
class DerivativeFunction : public std::enable_shared_from_this<DerivativeFunction> {
 public:
  struct Call {
    Instance* function = nullptr;
    Instance* derivative = nullptr;
    std::vector<std::string> inputs;             // names of the function's inputs
    std::vector<std::string> derivative_inputs;  // and of the derivative's: first as many for those
    std::vector<std::string> differentiated;     // then one for each of these inputs
    std::vector<NamedValue> arguments;           // numbers where they are known
    Place place;
  };

  // `inputs` stand in the arguments where they are not numbers, in order.
  DerivativeFunction(std::shared_ptr<InstanceTree> tree, Call call, std::vector<Expr> inputs);

  // The results of the call. Throws Error if the function cannot be run.
  std::vector<Value> results();

 private:
  std::shared_ptr<const Function> function_of(const Expr& value, std::size_t real);
  Expr rate(std::size_t real, const std::vector<Expr>& arguments, const std::vector<Expr>& slopes);

  std::shared_ptr<InstanceTree> tree_;
  Call call_;
  std::vector<Expr> inputs_;
  FlatModel scratch_;
  Flattener host_;
  std::vector<Expr> symbols_;        // of the scratch model, in place of the inputs
  std::vector<Expr> slope_symbols_;  // and of their derivatives
  std::vector<Expr> derivatives_;    // of the Real results, once asked for
};

}  // namespace saltus
