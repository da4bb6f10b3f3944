// simulate -> 2: nothing determines 'x', 'y'.* these equations agree at t = 0, which does not mean that they do later
model M
  Real x(start = 1), y;
equation
  x + y = 1 + (if time > 0.5 then 1 else 0);
  x + y = 1;
end M;
