// simulate -> 1: t = 0.9: .*subscript_outside_in_when.mo:6:3 is not a number
model M
  Integer i(start = 0, fixed = true);
  discrete Real a[3](each start = 0, each fixed = true);
algorithm
  when sample(0, 0.3) then
    i := pre(i) + 1;
    a[i] := time;
  end when;
end M;
