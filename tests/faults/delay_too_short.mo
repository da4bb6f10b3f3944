// simulate -> 2: delay\(\) by 1e-12: .* more than
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = -delay(x, 1e-12);
end M;
