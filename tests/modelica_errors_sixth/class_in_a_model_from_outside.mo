// 7: which is no package: it holds the variable 'x'
model A
  Real x = 1;
  model B Real y = 1; end B;
end A;
model M
  A.B b;
end M;
