// 5: '==' compares: an equation has '='
model M
  Real x;
equation
  x == 3;
end M;
