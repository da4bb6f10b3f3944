// 3: expected ',' or '\)'|expected '\)'|expected ','
model A
  Real x(start = 0 fixed = true);
equation
  der(x) = -x;
end A;
