// 6: time cannot be used in a function
function f
  input Real x;
  output Real y;
algorithm
  y := x + time;
end f;
model M
  Real z = f(1.0);
end M;
