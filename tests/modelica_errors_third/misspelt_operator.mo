// 5: there is no 'dre' in 'A' \(did you mean 'der'\?\)
model A
  Real x(start = 1, fixed = true);
equation
  dre(x) = -x;
end A;
