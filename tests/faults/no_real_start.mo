// simulate -> 1: t = 0 .*no_real_start.mo:5:3 cannot be satisfied
model M
  Real x(start = 1);
equation
  x^2 = -1 - time;
end M;
