// 3: '}'
model A
  parameter Real p[3] = {1, 2, 3;
  Real x = p[1];
end A;
