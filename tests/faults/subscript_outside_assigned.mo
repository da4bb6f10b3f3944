// simulate -> 1: subscript_outside_assigned.mo:6:3: .*|a\[1\].* at .*subscript_outside_assigned.mo:.* is not finite at t = 0.75
model M
  Integer i = integer(4*time)+1;
  Real a[3];
algorithm
  a := zeros(3);
  a[i] := time;
end M;
