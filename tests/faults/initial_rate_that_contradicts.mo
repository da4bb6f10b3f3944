// simulate -> 1: t = 0 .*initial_rate_that_contradicts.mo:5:3.*initial equation der.x. = 2
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = 1;
initial equation
  der(x) = 2;
end M;
