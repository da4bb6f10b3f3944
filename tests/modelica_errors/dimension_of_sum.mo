// 7: different shape: \[3\] and \[2\]
model M
  Real x[3] = {1, 2, 3};
  Real y[2] = {1, 2};
  Real z[3];
equation
  z = x + y;
end M;
