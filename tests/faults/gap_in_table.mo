// simulate -> 1: gap_in_table.mo:7:3 is not finite at t = 0.666
model M
  parameter Real a[3] = {1, 2, 3};
  Integer i = 1 + integer(3*time);
  Real x(start = 0, fixed = true);
equation
  der(x) = a[i + 1];
end M;
