// 5: sample\(\) needs numbers, not Boolean|not a clock
model M
  Real x;
equation
  x = sample(time, true);
end M;
