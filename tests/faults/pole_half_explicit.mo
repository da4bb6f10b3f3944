// simulate --stop-time 1 --method half-explicit -> 1: the solution goes to infinity at t = 1 .*'x' changes fastest
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = x^2;
end M;
