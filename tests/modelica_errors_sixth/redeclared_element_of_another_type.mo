// 12: its 'x' is Integer, not Real
model A
  Real x = 1;
end A;
model B
  Integer x = 1;
end B;
model H
  replaceable A a;
end H;
model M
  H h(redeclare B a);
end M;
