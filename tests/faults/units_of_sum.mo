// simulate -> 0: units_of_sum.mo:5:[0-9]+: warning: units do not agree: .*is in m, .*is in s, and they are added
model M
  Real length(unit = "m") = 2;
  Real duration(unit = "s") = 3;
  Real both = length + duration;
end M;
