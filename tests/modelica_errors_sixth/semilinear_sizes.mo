// 3: slopes that are .2. and .3.
model M
  Real y[2] = semiLinear(time, {1, 2}, {1, 2, 3});
end M;
