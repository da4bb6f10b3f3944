// simulate --start-time 1e15 --stop-time 1000000000000001 -> 0: warning: time has only
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = -x;
end M;
