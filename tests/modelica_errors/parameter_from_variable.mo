// 4: parameter|'?k'?
model M
  Real x = time;
  parameter Real k = x;
end M;
