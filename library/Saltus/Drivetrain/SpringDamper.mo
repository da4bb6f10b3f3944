within Saltus.Drivetrain;
model SpringDamper "Linear spring and damper in parallel"
  extends Interfaces.Compliant;
  parameter Types.Stiffness c = 1 "Stiffness";
  parameter Types.Damping d = 0 "Damping";
  parameter Types.Angle phi_rel0 = 0 "Relative angle without torque";
  Types.AngularVelocity w_rel(start = 0) "Relative velocity";
equation
  w_rel = der(phi_rel);
  tau = c*(phi_rel - phi_rel0) + d*w_rel;
  annotation(Documentation(info = "<html>
<p>tau = c (phi_rel - phi_rel0) + d d(phi_rel)/dt.</p>
</html>"));
end SpringDamper;
