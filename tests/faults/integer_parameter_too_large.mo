// simulate -> 2: integer_parameter_too_large.mo:[0-9:]+ error: the value of parameter 'c' is beyond 2\^53
model integer_parameter_too_large
  parameter Integer a = 2147483647;
  parameter Integer c = a*a*a;
  Real x = c*time;
end integer_parameter_too_large;
