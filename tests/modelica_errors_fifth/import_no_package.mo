// 5: it is no package and no element of one
model A
  type T = Real;
end A;
model M import A.T;
  T x = 1;
end M;
