// 4: 'x' has a condition and can only be connected
model M
  Real x if true;
equation x = 1;
end M;
