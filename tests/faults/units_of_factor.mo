// check -> 0: units_of_factor.mo:6:3: warning: units do not agree: .*1000 m
model M
  Real in_m(unit = "m") = 2000;
  Real in_km(unit = "km");
equation
  in_km = in_m;
end M;
