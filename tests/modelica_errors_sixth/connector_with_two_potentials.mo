// 2: has 1 flow variables and 2 that are neither
connector C
  Real v;
  Real w;
  flow Real i;
end C;
model A
  C c;
equation
  c.v = 1; c.w = 2;
end A;
model M
  A a;
end M;
