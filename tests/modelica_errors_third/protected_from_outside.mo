// 8: 'w' of 'i' is protected
model I
protected
  Real w = 1;
end I;
model A
  I i;
  Real x = i.w;
end A;
