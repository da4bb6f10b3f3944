// 6: 'T' of 'A' is protected
model A
  protected type T = Real;
end A;
model M
  A.T x = 1;
end M;
