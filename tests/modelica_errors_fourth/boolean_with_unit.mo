// 3: 'b' is Boolean, which has no 'unit'
model M
  Boolean b(unit = "m") = true;
end M;
