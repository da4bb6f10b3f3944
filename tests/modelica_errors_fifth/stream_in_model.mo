// 3: 'h' is a stream variable, which elements of model 'M' may not be
model M
  stream Real h = 1;
end M;
