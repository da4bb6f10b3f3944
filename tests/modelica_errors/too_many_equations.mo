// 2: equation
model M
  Real x;
equation
  der(x) = -x;
  x = 1;
end M;
