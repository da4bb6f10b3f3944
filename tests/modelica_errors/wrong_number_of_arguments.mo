// 5: sin
model M
  Real x;
equation
  x = sin(time, 2);
end M;
