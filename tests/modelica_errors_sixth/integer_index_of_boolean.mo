// 4: subscript 1 of 'v' is Integer, but the array is indexed by Boolean
model M
  Real v[Boolean] = {1, 2};
  Real y = v[1];
end M;
