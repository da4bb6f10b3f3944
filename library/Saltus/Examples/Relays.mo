within Saltus.Examples;
model Relays "Two relays that act on each other: sliding on two surfaces at once"
  Real x(start = 1, fixed = true);
  Real y(start = 0.5, fixed = true);
  Real s1 = if x > 0 then 1 else -1;
  Real s2 = if y > 0 then 1 else -1;
  Real push = if time > 1 then 2*(time - 1) else 0;
equation
  der(x) = -2*s1 + 0.5*s2 + push;
  der(y) = -0.5*s1 - 2*s2;
  annotation(experiment(StopTime = 3, Tolerance = 1e-8, Interval = 0.01));
end Relays;
