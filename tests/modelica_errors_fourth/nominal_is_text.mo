// 3: 'nominal' of 'x' is Real, not String
model M
  Real x(nominal = "big", start = 1);
equation
  der(x) = 1;
end M;
