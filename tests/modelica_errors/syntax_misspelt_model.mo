// 2: 'modle' \(did you mean 'model'\?\)
modle M
  Real x = 1;
end M;
