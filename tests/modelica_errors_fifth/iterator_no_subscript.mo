// 5: 'i' has no range and is no subscript
model M
  Real x[3];
equation
  for i loop x[1] = i; end for;
end M;
