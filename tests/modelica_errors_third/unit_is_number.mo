// 3: the unit of 'x' is not a String
model M
  Real x(unit = 5) = 1;
end M;
