// simulate -> 1: not_a_number_at_start.mo:5.*t = 0
model M
  Real x(start = -1, fixed = true), y;
equation
  y = log(x);
  der(x) = y;
end M;
