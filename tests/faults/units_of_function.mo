// check -> 0: units_of_function.mo:4:[0-9]+: warning: exp\(\) takes a number
model M
  Real length(unit = "m") = 2;
  Real x = exp(length);
end M;
