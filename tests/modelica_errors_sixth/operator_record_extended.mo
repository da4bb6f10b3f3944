// 6: 'R' cannot be extended: the operators of operator record 'R'
operator record R
  Real x;
end R;
operator record S
  extends R;
end S;
model M
  S s(x = 1);
end M;
