// simulate --stop-time 1 -> 1: the solution goes to infinity at t = 1 .*'x' changes fastest, see equation .*pole_at_the_end.mo:5
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = x^2;
end M;
