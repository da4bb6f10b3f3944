// simulate -> 1: no discrete values agree .* a value at .*remainder_by_zero.mo:3:12 is not a number
model M
  Real x = mod(time, 0);
end M;
