// simulate -> [12]: contradict each other: .*contradiction.mo:5.*contradiction.mo:6
model M
  Real x, y;
equation
  x + y = 1;
  x + y = 2;
end M;
