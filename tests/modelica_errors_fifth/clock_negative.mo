// 5: the interval of a clock is positive
model M
  Real x;
equation
  x = sample(time, Clock(-0.1));
end M;
