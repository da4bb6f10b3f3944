// 10: 'a.b.c' is inside of component|names 'a.b.c', which is inside
connector C
  Real v; flow Real i;
end C;
model B C c; equation c.v = 1; end B;
model A B b; end A;
model M
  A a; B d;
equation
  connect(a.b.c, d.c);
end M;
