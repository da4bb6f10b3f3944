// simulate -> 1: division_at_event.mo:6:3 is not finite at t = 0.5
model M
  Real x(start = 1, fixed = true), y;
equation
  der(x) = -y;
  y = if time < 0.5 then 1 else 1/(time - time);
end M;
