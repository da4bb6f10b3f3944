// analyze -> 2: der\(\) needs Real, not Integer
model M
  Real w(start = 0, fixed = true);
equation
  der(0) = 0.089 - 0.3*sign(w);
end M;
