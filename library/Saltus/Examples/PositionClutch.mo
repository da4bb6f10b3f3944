within Saltus.Examples;
model PositionClutch "As TwoMassClutch, locked by the angle it had when locking began"
  parameter Real J1(unit = "kg.m2") = 1 "Driven inertia";
  parameter Real J2(unit = "kg.m2") = 2 "Other inertia";
  parameter Real c(unit = "N.m") = 3 "Capacity";
  Real u(unit = "N.m") = 8*sin(time) "Drive";
  Real phi1(unit = "rad", start = 0, fixed = true) "Angle";
  Real phi2(unit = "rad", start = 0, fixed = true) "Angle";
  Real w1(unit = "rad/s", start = 10, fixed = true) "Speed";
  Real w2(unit = "rad/s", start = 0, fixed = true) "Speed";
  Real tau(unit = "N.m") "Torque through the clutch";
  discrete Real offset(unit = "rad", start = 0, fixed = true) "Angle between the shafts";
  Boolean forward = w1 > w2;
  Boolean backward = w1 < w2;
  Boolean locked(start = false, fixed = true);
equation
  der(phi1) = w1;
  der(phi2) = w2;
  J1*der(w1) = u - tau;
  J2*der(w2) = tau;
  if locked then
    phi1 = phi2 + offset;
  else
    tau = c*sign(w1 - w2);
  end if;
  when locked then
    offset = phi1 - phi2;
  end when;
  locked = if pre(locked) then abs(tau) <= c
           else (pre(forward) and not forward or pre(backward) and not backward)
                and abs(J2*u/(J1 + J2)) <= c;
  annotation(experiment(StopTime = 20, Tolerance = 1e-8), Documentation(info = "<html>
<p>Index 1 while it slips, 3 while it is locked.</p>
</html>"));
end PositionClutch;
