// simulate -> 0: reached the stop time
model M
  constant Real c = 1e200;
  Real x(start = 0, fixed = true), y;
equation
  der(x) = 1e-300*y;
  y = c*(c*(1e-150*x + 1e-150)) * 1e-200;
end M;
