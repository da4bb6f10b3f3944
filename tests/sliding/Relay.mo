model Relay
  Real x(start = 1, fixed = true);
equation
  der(x) = -sign(x) + 1.5*sin(time);
  annotation(experiment(StopTime = 20, Tolerance = 1e-10));
end Relay;
