// 5: ':=' assigns
model M
  Real x;
equation
  x := 3;
end M;
