// simulate --stop-time 3 -> 1: logarithm.mo:6
model M
  Real x(start = 1, fixed = true), y;
equation
  der(x) = -1;
  y = log(x);
end M;
