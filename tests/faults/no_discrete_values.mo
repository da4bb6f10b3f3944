// simulate -> 1: no discrete values agree .* 'y > 0' at .*no_discrete_values.mo:3:
model M
  Real y = if y > 0 then -1 else 1;
end M;
