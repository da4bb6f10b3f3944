// 16: 'T' cannot be the type of 'b.s', for which 'P' is promised: it has no 'y'
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
