// simulate -> 0: reached the stop time
model M
  Boolean b = time > 0.5;
  Real x[Boolean] = {1, 2};
  Real y = x[b];
equation
  assert(y == (if b then 2 else 1), "x[b] is the wrong element");
end M;
