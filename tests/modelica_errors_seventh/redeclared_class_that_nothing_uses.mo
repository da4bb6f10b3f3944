// 13: it has no 'y'
model A
  Real x = 1;
end A;
model B
  Real x = 1, y = 2;
end B;
model C
  replaceable model D = B;
  Real z = 1;
end C;
model M
  C c(redeclare model D = A);
end M;
