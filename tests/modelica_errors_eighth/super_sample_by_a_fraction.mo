// 4: factor is 1\.5, which is no Integer
model M
  Real u = sample(time, Clock(0.1));
  Real y = hold(superSample(u, 1.5));
end M;
