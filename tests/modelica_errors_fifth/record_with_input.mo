// 3: 'x' is an input, which elements of record 'R' may not be
record R
  input Real x;
end R;
model M
  R r(x = 1);
end M;
