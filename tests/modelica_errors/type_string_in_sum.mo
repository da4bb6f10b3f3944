// 3: String|string
model M
  Real x = 1 + "two";
end M;
