// 6: der\(\) cannot be used in a function
function f
  input Real u;
  output Real y;
algorithm
  y := der(u);
end f;
model M
  Real y = f(time);
end M;
