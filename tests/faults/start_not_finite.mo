// simulate -> 2: start_not_finite.mo:4:8: error: the start value .* of 'x' is not finite
model M
  parameter Real p = 1e300;
  Real x(start = p*p, fixed = true);
equation
  der(x) = -x;
end M;
