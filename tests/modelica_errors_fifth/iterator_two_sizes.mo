// 6: is a subscript of arrays of different size
model M
  Real x[3], y[2] = {1, 2};
equation
  for i loop
    x[i] = y[i];
  end for;
end M;
