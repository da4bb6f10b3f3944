// simulate -> 1: 'y = x\[i\]'.* at .*subscript_outside.mo:5:[0-9]+ is not finite at t = 0.75
model M
  Integer i = integer(4*time)+1;
  Real x[3] = {time, 2*time, 3*time};
  Real y = x[i];
end M;
