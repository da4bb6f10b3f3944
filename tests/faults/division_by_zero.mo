// simulate --stop-time 2 -> 2: division_by_zero.mo:5:3: error: .*not a finite number
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = -1/(x - x*0 - x);
end M;
