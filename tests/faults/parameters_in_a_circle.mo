// simulate -> 2: depends on itself
model M
  parameter Real a = b;
  parameter Real b = c + 1;
  parameter Real c = 2*a;
  Real x = a;
end M;
