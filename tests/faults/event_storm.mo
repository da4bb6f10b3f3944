// simulate -> 1: event_storm|t = 0
model M
  Integer n(start = 0, fixed = true);
  Boolean b(start = false, fixed = true);
equation
  b = not pre(b);
  n = pre(n) + 1;
end M;
