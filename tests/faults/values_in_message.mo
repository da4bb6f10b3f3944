// simulate -> 1: error: .*t = 0.5.*: x is 0.500, twice that 1$
model M
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  assert(x < 0.5, "x is " + String(x, format = ".3f") + ", twice that " + String(2*x));
end M;
