// 13: 'b.s' cannot be redeclared: it is not replaceable
model S
  Real y = 1;
end S;
model T
  Real y = 2;
  Real z = 3;
end T;
model B
  S s;
end B;
model A
  B b(redeclare T s);
end A;
