// 2: has stream variables and 0 flow variables; it must have one
connector C
  stream Real h; Real p;
end C;
model A
  C c;
equation
  c.h = 1; c.p = inStream(c.h);
end A;
model M
  A a;
end M;
