// 3: Boolean|Real
model M
  Boolean b = 2.5;
end M;
