within Saltus.Drivetrain;
model IdealGear "Gear without inertia, loss and clearance"
  extends Interfaces.TwoFlanges;
  parameter Real ratio = 1 "flange_a.phi/flange_b.phi";
equation
  flange_a.phi = ratio*flange_b.phi;
  0 = ratio*flange_a.tau + flange_b.tau;
  annotation(Documentation(info = "<html>
<p>phi_a = ratio phi_b, 0 = ratio tau_a + tau_b: no power is lost.</p>
</html>"));
end IdealGear;
