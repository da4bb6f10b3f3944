// simulate --stop-time 3 -> 1: 'x' changes fastest, see equation .*blow_up.mo:5
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = x^2;
end M;
