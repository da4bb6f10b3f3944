// 3: needs numbers, not String
model M
  Real x = 1 + "two";
end M;
