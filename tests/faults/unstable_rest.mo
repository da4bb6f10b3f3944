// simulate --stop-time 50 -> 0: warning: the run starts at rest .* unstable
model M
  // upright, but for the rounding of pi
  Real angle(start = 3.141592653589793, fixed = true), w(start = 0, fixed = true);
equation
  der(angle) = w;
  der(w) = -9.81*sin(angle);
end M;
