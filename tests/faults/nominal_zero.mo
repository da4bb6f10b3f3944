// simulate -> 0: nominal_zero.mo:3:[0-9]+: warning: the nominal value 0 of 'x'
model M
  Real x(start = 1, fixed = true, nominal = 0);
equation
  der(x) = -x;
end M;
