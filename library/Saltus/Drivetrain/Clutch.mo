within Saltus.Drivetrain;
model Clutch "Friction clutch between two shafts"
  extends Interfaces.TwoFlanges;
  extends Interfaces.Friction;
equation
  phi_rel = flange_b.phi - flange_a.phi;
  flange_b.tau = tau;
  flange_a.tau = -tau;
  annotation(Documentation(info = "<html>
<p>phi_rel = phi_b - phi_a, tau_b = tau, tau_a = -tau; slipping and locking as in
<code>Interfaces.Friction</code>.</p>
</html>"));
end Clutch;
