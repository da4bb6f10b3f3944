// simulate -> 2: one is missing for 'y'
model M
  Real x, y;
equation
  x = time;
end M;
