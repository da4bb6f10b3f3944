// simulate -> 1: t = 0.75: 'k' at .*subscript_outside_integers.mo:5:[0-9]+ is not a number
model M
  parameter Integer list[3] = {7, 8, 9};
  Integer i = integer(4*time)+1;
  Integer k = list[i];
end M;
