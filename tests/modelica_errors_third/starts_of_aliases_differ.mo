// 4: 'x' and 'y' are equal up to sign, but their fixed start values differ: 1 and 2
model M
  Real x(start = 1, fixed = true);
  Real y(start = 2, fixed = true);
equation
  x = y;
  der(x) = 1;
end M;
