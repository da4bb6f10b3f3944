// 2: 2 unknowns but 1 equation:.*'x', 'y'
model M
  Real x;
  Real y;
equation
  der(x) = -y;
end M;
