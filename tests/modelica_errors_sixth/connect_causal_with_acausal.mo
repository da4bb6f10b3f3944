// 8: one of 'a.c.x' and 'b.c.x' is an input or output
connector C input Real x; Real v; flow Real i; end C;
connector D Real x; output Real v; flow Real i; end D;
model A C c; equation c.v = 1; end A;
model B D c; equation c.v = 1; end B;
model M A a; B b;
equation
  connect(a.c, b.c);
end M;
