// 6: 'x' cannot be redeclared: it is constant
model A
  replaceable constant Real x = 1;
end A;
model M
  extends A; redeclare Real x = 2;
end M;
