// 6: a block cannot extend a model
model A
  Real x = time;
end A;
block B
  extends A;
end B;
model M
  B b;
end M;
