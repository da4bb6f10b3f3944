// check -> 0: units_of_equation.mo:7:3: warning: units do not agree: .*is in m/s.*is in kg.m/s2.*set equal
model M
  Real x(unit = "m", start = 0, fixed = true);
  Real v(unit = "m/s") = 1;
  Real F(unit = "N") = 2;
equation
  der(x) = F;
end M;
