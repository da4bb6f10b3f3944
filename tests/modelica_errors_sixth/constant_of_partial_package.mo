// 6: 'k' is looked up in 'P', which is partial
partial package P
  constant Real k = 1;
end P;
model M
  Real y = P.k;
end M;
