// simulate -> 1: no discrete values agree .*'a' at .*boolean_of_itself.mo:3
model M
  Boolean a;
equation
  a = not a;
end M;
