// simulate --stop-time 0.999 -> 0: completed
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = x^2;
end M;
