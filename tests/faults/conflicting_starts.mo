// simulate -> [12]: conflicting_starts.mo:5:[0-9]+ is not met
model M
  Real x(start = 1, fixed = true), y(start = 5, fixed = true);
equation
  y = 2*x;
  der(x) = -x;
end M;
