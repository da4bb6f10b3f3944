// check -> 2: enormous_product.mo:3:[0-9]+: error: an array of 1e\+10 elements
model M
  Real x = sum(outerProduct(ones(100000), ones(100000)));
end M;
