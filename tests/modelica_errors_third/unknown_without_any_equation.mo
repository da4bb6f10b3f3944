// 3: 3 unknowns but 2 equations: one is missing for 'z'
model A
  Real x, y, z;
equation
  x + y = 1;
  x - y = 2;
end A;
