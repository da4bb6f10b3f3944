// 4: pre\(\) of 'x', which is continuous, outside of 'when'
model M
  Real x(start = 0, fixed = true);
  Real y = pre(x);
equation
  der(x) = 1;
end M;
