// 16: 'T' cannot replace 'b.s': it has no 'y', which 'P' has
partial model P
  Real y;
end P;
model S
  extends P;
equation
  y = 1;
end S;
model T
  Real z = 3;
end T;
model B
  replaceable S s constrainedby P;
end B;
model A B b(redeclare T s); end A;
