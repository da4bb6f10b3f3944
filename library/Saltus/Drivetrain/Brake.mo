within Saltus.Drivetrain;
model Brake "Friction brake between a shaft and the housing"
  extends Interfaces.TwoFlanges;
  extends Interfaces.Friction;
equation
  flange_a.phi = flange_b.phi;
  phi_rel = flange_a.phi;
  flange_a.tau + flange_b.tau = tau;
  annotation(Documentation(info = "<html>
<p>The shaft goes through: phi_a = phi_b = phi_rel, tau_a + tau_b = tau; slipping and locking as in
<code>Interfaces.Friction</code>.</p>
</html>"));
end Brake;
