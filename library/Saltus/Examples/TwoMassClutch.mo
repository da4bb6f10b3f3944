within Saltus.Examples;
model TwoMassClutch "Friction clutch between two inertias, locked by w1 = w2"
  parameter Real J1(unit = "kg.m2") = 1 "Driven inertia";
  parameter Real J2(unit = "kg.m2") = 2 "Other inertia";
  parameter Real c(unit = "N.m") = 3 "Capacity";
  Real u(unit = "N.m") = 8*sin(time) "Drive";
  Real w1(unit = "rad/s", start = 10, fixed = true) "Speed";
  Real w2(unit = "rad/s", start = 0, fixed = true) "Speed";
  Real tau(unit = "N.m") "Torque through the clutch";
  Boolean forward = w1 > w2;
  Boolean backward = w1 < w2;
  Boolean locked(start = false, fixed = true);
equation
  J1*der(w1) = u - tau;
  J2*der(w2) = tau;
  if locked then
    w1 = w2;
  else
    tau = c*sign(w1 - w2);
  end if;
  locked = if pre(locked) then abs(tau) <= c
           else (pre(forward) and not forward or pre(backward) and not backward)
                and abs(J2*u/(J1 + J2)) <= c;
  annotation(experiment(StopTime = 20, Tolerance = 1e-8), Documentation(info = "<html>
<p>Locked while the torque that holds the inertias together is within the capacity. Locking begins
when the slip ends and that torque is within the capacity. The index is 1 while it slips and 2
while it is locked.</p>
</html>"));
end TwoMassClutch;
