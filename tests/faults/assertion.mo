// simulate --stop-time 2 -> 1: x is too large
model M
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  assert(x < 1, "x is too large");
end M;
