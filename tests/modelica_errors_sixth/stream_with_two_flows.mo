// 2: has stream variables and 2 flow variables
connector C
  Real p;
  Real q;
  flow Real m;
  flow Real n;
  stream Real h;
end C;
model M
  C c(p = 1, q = 2, h = 3);
end M;
