// 3: 'unit' of 'x' is a String, not Integer
model M
  Real x(unit = 5) = 1;
end M;
