// 3: 'min' of 'n' is Integer, not Boolean
model M
  Integer n(min = true) = 1;
end M;
