// simulate -> 0: warning: the run starts at rest .*'x' grow
model M
  Real x(start = 1e-300, fixed = true);
equation
  der(x) = 1000*x;
end M;
