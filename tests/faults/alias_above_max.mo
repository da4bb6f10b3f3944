// simulate -> 0: alias_above_max.mo:4:[0-9]+: warning: 'y' is .* at t = .*, above its max -0.5
model M
  Real x(start = 1, fixed = true);
  Real y(max = -0.5) = -x;
equation
  der(x) = -2;
end M;
