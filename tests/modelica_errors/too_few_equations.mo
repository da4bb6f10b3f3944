// 2: '?y'?
model M
  Real x;
  Real y;
equation
  der(x) = -y;
end M;
