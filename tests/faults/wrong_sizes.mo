// simulate -> 2: wrong_sizes.mo:5
model M
  Real x[3];
equation
  x = {1, 2};
end M;
