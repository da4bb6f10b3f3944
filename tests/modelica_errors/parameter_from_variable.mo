// 4: 'x' is a variable.*parameters
model M
  Real x = time;
  parameter Real k = x;
end M;
