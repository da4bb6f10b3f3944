// 6: different, but are those of the same variables
model M
  Real x, y;
equation
  x = sample(time, Clock(0.1));
  y = x + sample(time, Clock(0.2));
end M;
