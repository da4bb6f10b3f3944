// 3: unknown prefix 'paramter' \(did you mean 'parameter'\?\)
model M
  paramter Real k = 1;
  Real x = k;
end M;
