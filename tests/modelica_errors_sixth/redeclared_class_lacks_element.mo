// 12: 'A' does not fit 'B', which it must be a subtype of: it has no 'y'
model A
  Real x = 1;
end A;
model B
  Real x = 1; Real y = 2;
end B;
model H
  replaceable model T = B; T t;
end H;
model M
  H h(redeclare model T = A);
end M;
