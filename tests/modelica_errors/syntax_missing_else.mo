// 3: an if-expression needs a value for every case
model M
  Real x = if time < 1 then 2;
end M;
