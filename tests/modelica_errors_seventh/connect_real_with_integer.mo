// 12: 'a.u' is Real and 'b.u' is Integer
connector R = Real;
connector I = Integer;
model A
  R u;
end A;
model B
  I u;
end B;
model M
  A a; B b;
equation connect(a.u, b.u);
  a.u = time;
end M;
