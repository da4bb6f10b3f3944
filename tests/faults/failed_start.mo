// simulate -> [12]: failed_start.mo:[56]
model M
  Real x(start = 1), y;
equation
  x^2 + y^2 = -1;
  y = x + time;
end M;
