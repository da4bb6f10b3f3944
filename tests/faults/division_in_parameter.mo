// simulate -> [12]: division_in_parameter.mo|not finite
model M
  parameter Real a = 0;
  parameter Real b = 1/a;
  Real x(start = 0, fixed = true);
equation
  der(x) = b;
end M;
