// simulate -> 1: at t = 0.5 does not end: 'a' at .*toggle_for_ever.mo:3:11
model M
  Boolean a(start = false, fixed = true);
equation
  a = if time > 0.5 then not pre(a) else false;
end M;
