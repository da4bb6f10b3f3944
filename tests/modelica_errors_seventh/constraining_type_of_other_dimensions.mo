// 4: the type of 'x' has 1 dimensions, its constraining type 2
model M
  type A = Real[3]; type B = Real[2, 3];
  replaceable A x[2] = {{1, 2, 3}, {4, 5, 6}} constrainedby B;
end M;
