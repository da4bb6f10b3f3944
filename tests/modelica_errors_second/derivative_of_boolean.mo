// 6: der\(\).*Boolean|der\(\).*Real|Boolean
model A
  Real x;
  Boolean b = time > 0.5;
equation
  x = der(b);
end A;
