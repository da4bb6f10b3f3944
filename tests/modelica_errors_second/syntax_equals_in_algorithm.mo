// 5: ':='
model A
  Real y;
algorithm
  y = 2*time;
end A;
