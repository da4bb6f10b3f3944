// check -> 0: input_without_value.mo:3:[0-9]+: warning: nothing gives the input 'u' a value
model M
  input Real u;
  Real x(start = 1, fixed = true);
equation
  der(x) = u - x;
end M;
