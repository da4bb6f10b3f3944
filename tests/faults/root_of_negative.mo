// simulate --stop-time 2 -> 1: root_of_negative.mo:5
model M
  Real x(start = 0.5, fixed = true);
equation
  der(x) = -1 - sqrt(x);
end M;
