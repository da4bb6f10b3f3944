// 5: sin\(\) takes 1 argument, not 2
model M
  Real x;
equation
  x = sin(time, 2);
end M;
