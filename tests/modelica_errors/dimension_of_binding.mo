// 3: 3|2|size|dimension
model M
  Real x[3] = {1, 2};
end M;
