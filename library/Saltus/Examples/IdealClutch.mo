within Saltus.Examples;
model IdealClutch "Clutch that closes at once: momentum is conserved, the torque has an impulse"
  parameter Real J1(unit = "kg.m2") = 1 "Inertia of the first shaft";
  parameter Real J2(unit = "kg.m2") = 2 "Inertia of the second shaft";
  parameter Real d(unit = "N.m.s") = 1 "Drag of the second shaft";
  parameter Real t_close(unit = "s") = 0.5 "The clutch closes";
  parameter Real t_open(unit = "s") = 1.5 "The clutch opens";
  Real w1(unit = "rad/s", start = 10, fixed = true) "Speed";
  Real w2(unit = "rad/s", start = 0, fixed = true) "Speed";
  Real tau(unit = "N.m") "Torque through the clutch, on the second shaft";
  Boolean closed = time >= t_close and time < t_open;
equation
  J1*der(w1) = -tau;
  J2*der(w2) = tau - d*w2;
  if closed then
    w1 = w2;
  else
    tau = 0;
  end if;
  annotation(experiment(StopTime = 3, Interval = 0.01));
end IdealClutch;
