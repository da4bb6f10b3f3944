// 5: record 'R' may not contain equations
record R
  Real x;
equation
  x = 1;
end R;
model M
  R r;
end M;
