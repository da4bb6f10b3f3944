// simulate --stop-time 2 -> 0: warning: .*x is large
model M
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  assert(x < 1, "x is large", AssertionLevel.warning);
end M;
