// simulate -> [12]: start_without_unknowns.mo:5 is not met
model M
  Real x;
initial equation
  x = 1;
equation
  x = -x;
end M;
