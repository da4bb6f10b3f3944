// 8: it is not a stream variable
connector C
  Real p; flow Real m; stream Real h;
end C;
model A
  C c;
equation
  c.h = inStream(c.p); c.p = 1;
end A;
model M
  A a;
end M;
