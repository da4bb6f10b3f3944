model Relays
  Real x(start = 1, fixed = true);
  Real y(start = 0.5, fixed = true);
equation
  der(x) = -2*sign(x) + 0.5*sign(y) + max(0, 2*(time - 1));
  der(y) = -0.5*sign(x) - 2*sign(y);
  annotation(experiment(StopTime = 3, Tolerance = 1e-10));
end Relays;
