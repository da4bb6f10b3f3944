// check -> 0: units_of_parameter.mo:4:[0-9]+: warning: units do not agree: 'b' is in s, but
model M
  parameter Real a(unit = "m") = 1;
  parameter Real b(unit = "s") = a;
  Real x = b*time;
end M;
