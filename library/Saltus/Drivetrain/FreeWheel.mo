within Saltus.Drivetrain;
model FreeWheel "Free wheel: flange_b may turn faster than flange_a, not slower"
  extends Interfaces.TwoFlanges;
  extends Interfaces.Slipping(locked(start = startLocked, fixed = true));
equation
  phi_rel = flange_b.phi - flange_a.phi;
  flange_b.tau = tau;
  flange_a.tau = -tau;
  locked = if pre(locked) then not s > 0 else w_rel < 0;
  if locked then
    s = tau;
    w_rel = 0;
  else
    s = if pre(locked) then J_unit*a_rel else 0;
    tau = 0;
  end if;
  annotation(Documentation(info = "<html>
<p>Locked: w_rel = 0 while flange_a drives, tau &le; 0. Free: tau = 0 while flange_b overruns,
w_rel &ge; 0. It changes where the inequality of the mode would be violated.</p>
</html>"));
end FreeWheel;
