// check -> 2: enormous_matrix.mo:3:[0-9]+: error: an array of 1e\+10 elements
model M
  Real x = sum(identity(100000));
end M;
