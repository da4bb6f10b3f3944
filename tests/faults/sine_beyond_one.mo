// simulate -> 1: sine_beyond_one.mo:3:12 is not finite just after at t = 0.5
model M
  Real x = asin(2*time);
end M;
