// simulate -> [12]: initial_conflict.mo:[56]
model M
  Real x;
initial equation
  x = 1;
  x = 2;
equation
  der(x) = -x;
end M;
