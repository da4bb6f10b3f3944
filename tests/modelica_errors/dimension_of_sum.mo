// 6: size|dimension
model M
  Real x[3] = {1, 2, 3};
  Real y[2] = {1, 2};
  Real z[3];
equation
  z = x + y;
end M;
