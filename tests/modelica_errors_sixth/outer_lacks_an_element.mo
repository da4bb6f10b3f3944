// 10: has no 'a', which the inner component has
record R
  Real i;
end R;
record S
  extends R;
  Real a;
end S;
model A
  outer R r; Real x = r.a;
end A;
model M
  inner S r(i = 1, a = 2);
  A a;
end M;
