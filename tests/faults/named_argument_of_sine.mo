// simulate -> 2: named_argument_of_sine.mo:5:16: error: the arguments of sin\(\) have no names
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = sin(u = x);
end M;
