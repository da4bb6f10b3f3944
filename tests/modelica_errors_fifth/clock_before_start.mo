// 6: would tick before the simulation starts
model M
  Real x, y;
equation
  x = sample(time, Clock(1, 10));
  y = backSample(x, 1);
end M;
