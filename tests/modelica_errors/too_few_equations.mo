// 4: 2 unknowns but 1 equation: .*'y'.*'x'
model M
  Real x;
  Real y;
equation
  der(x) = -y;
end M;
