// 6: 'k' is looked up in 'A', which is no package: it holds the variable 'x'
model A
  constant Real k = 2;
  Real x = 1;
end A;
model M Real y = A.k;
end M;
