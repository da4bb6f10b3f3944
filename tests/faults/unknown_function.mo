// simulate -> 2: unknown_function.mo:5:[0-9]+: error: .*'foo'
model M
  Real x;
equation
  x = foo(time);
end M;
