// 6: connector
model M
  Real x;
  Real y;
equation
  connect(x, y);
end M;
