// 4: subscript 4 of 'x' is outside 1:3
model M
  Real x[3] = {1, 2, 3};
  Real y = x[4];
end M;
