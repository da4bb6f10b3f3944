// 6: 'x' is .*not a connector
model M
  Real x;
  Real y;
equation
  connect(x, y);
end M;
