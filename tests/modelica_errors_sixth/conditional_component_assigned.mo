// 5: 'x' has a condition and can only be connected, not be assigned to
model M
  Real x if true;
algorithm
  x := 2;
end M;
