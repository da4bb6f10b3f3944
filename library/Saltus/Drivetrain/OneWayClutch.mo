within Saltus.Drivetrain;
model OneWayClutch "Free wheel and friction clutch in parallel"
  extends Interfaces.TwoFlanges;
  extends Interfaces.Slipping(locked(start = startLocked, fixed = true));
  parameter Real c_f(unit = "N.m") = 1 "Torque capacity at pressure 1";
  parameter Real peak(min = 1) = 1 "Static over kinetic capacity";
  Interfaces.RealInput pressure "Relative pressure, 0: free wheel only";
equation
  phi_rel = flange_b.phi - flange_a.phi;
  flange_b.tau = tau;
  flange_a.tau = -tau;
  locked = if pre(locked) then not s > peak*c_f*pressure else w_rel < 0;
  if locked then
    s = tau;
    w_rel = 0;
  else
    s = if pre(locked) then peak*c_f*pressure + J_unit*a_rel else 0;
    tau = c_f*pressure;
  end if;
  annotation(Documentation(info = "<html>
<p>Locked: w_rel = 0 while tau &le; peak c_f p; flange_a may drive with any torque. Slipping:
flange_b overruns, w_rel &ge; 0, against the friction tau = c_f p.</p>
</html>"));
end OneWayClutch;
