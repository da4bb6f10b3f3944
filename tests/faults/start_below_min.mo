// check -> 0: start_below_min.mo:3:[0-9]+: warning: the start value of 'x' is -1, below its min 0
model M
  Real x(start = -1, fixed = true, min = 0);
equation
  der(x) = 2;
end M;
