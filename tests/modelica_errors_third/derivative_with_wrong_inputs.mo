// 8: 'f_der' cannot be the derivative of 'f': it has 1 inputs, not 2
function f
  input Real x;
  output Real y;
algorithm
  y := x^2;
  annotation(
    derivative = f_der);
end f;
function f_der
  input Real x;
  output Real y;
algorithm
  y := 2*x;
end f_der;
model A
  Real y = f(time);
end A;
