// simulate --method bdf -> 0: reached the stop time
model M
  parameter Real p = 2;
  Real x = p;
end M;
