// simulate -> 2: contradict
model M
  Real x, y(start = 0, fixed = true);
equation
  x = 1;
  x = 2 + 0*y;
  der(y) = 1;
end M;
