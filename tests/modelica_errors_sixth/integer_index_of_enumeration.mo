// 5: subscript 1 of 'v' is Integer, but the array is indexed by E
model M
  type E = enumeration(a, b);
  Real v[E] = {1, 2};
  Real y = v[1];
end M;
