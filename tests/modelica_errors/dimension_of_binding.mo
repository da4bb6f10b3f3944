// 3: 'x' is \[3\] but its value is \[2\]
model M
  Real x[3] = {1, 2};
end M;
