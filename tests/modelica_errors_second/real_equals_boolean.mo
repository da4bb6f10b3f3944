// 6: Real.*Boolean|Boolean.*Real
model A
  Real x;
  Boolean b = time > 0.5;
equation
  x = b;
end A;
