// simulate -> 2: unknown_name.mo:5:[0-9]+: error: .*'z'
model M
  Real x;
equation
  x = z + 1;
end M;
