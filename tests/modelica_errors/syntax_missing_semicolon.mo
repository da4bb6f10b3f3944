// 3: expected ';' after the declaration
model M
  Real x = 1
  Real y = 2;
end M;
