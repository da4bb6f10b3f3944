// 7: 'x' of 'a' is protected
model A
  protected Real x = time;
end A;
model M
  A a;
  Real y = a.x;
end M;
