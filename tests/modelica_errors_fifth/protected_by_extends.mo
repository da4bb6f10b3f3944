// 9: 'x' of 'a' is protected
model B
  Real x = time;
end B;
model A
  protected extends B;
end A;
model M
  A a; Real y = a.x;
end M;
