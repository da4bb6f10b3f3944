// simulate -> 1: root_that_ends.mo:5:3 is not finite just after at t = 0.457
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = -(x - 0.3)^0.5 - 1;
end M;
