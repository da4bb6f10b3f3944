// simulate --stop-time 2 -> 1: 'y'|singular_inside.mo:6
model M
  Real x(start = 1, fixed = true), y;
equation
  der(x) = -1;
  x*y = 1;
end M;
