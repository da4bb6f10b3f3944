// simulate -> 0: variable_below_min.mo:3:[0-9]+: warning: 'x' is -.* at t = 0.50?2, below its min 0
model M
  Real x(start = 1, fixed = true, min = 0);
equation
  der(x) = -2;
end M;
