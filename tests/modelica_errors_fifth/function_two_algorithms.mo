// 8: more than one algorithm
function f
  input Real x;
  output Real y;
algorithm
  y := x;
algorithm
  y := 2*y;
end f;
model M
  Real z = f(time);
end M;
