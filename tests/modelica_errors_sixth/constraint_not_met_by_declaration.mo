// 9: for which 'B' is promised: it has no 'y'
model A
  Real x = 1;
end A;
model B
  Real x = 1; Real y = 2;
end B;
model M
  replaceable A a constrainedby B;
end M;
