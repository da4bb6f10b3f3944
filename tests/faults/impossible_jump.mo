// simulate --stop-time 2 -> [01]: t = 1|reached
model M
  Real x(start = 0, fixed = true), y;
equation
  der(x) = if time < 1 then 1 else -1;
  y = if time < 1 then x else 3 - x;
end M;
