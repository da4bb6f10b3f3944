within Saltus.Drivetrain;
model Inertia "Rotating mass"
  extends Interfaces.TwoFlanges;
  parameter Types.Inertia J = 1 "Moment of inertia";
  Types.Angle phi(start = 0) "Angle";
  Types.AngularVelocity w(start = 0) "Angular velocity";
  Types.AngularAcceleration a "Angular acceleration";
equation
  phi = flange_a.phi;
  phi = flange_b.phi;
  w = der(phi);
  a = der(w);
  J*a = flange_a.tau + flange_b.tau;
  annotation(Documentation(info = "<html>
<p>J d<sup>2</sup>phi/dt<sup>2</sup> = tau_a + tau_b.</p>
</html>"));
end Inertia;
