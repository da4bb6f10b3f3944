// simulate --max-step 1e-300 -> 2: largest step 1e-300: .* more than
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = -x;
end M;
