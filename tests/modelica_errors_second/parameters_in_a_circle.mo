// 3 or 4: (circle|itself|cycl|circular)
model A
  parameter Real a = 2*b;
  parameter Real b = a/2;
  Real x = a;
end A;
