within Saltus.Drivetrain;
model DiscBrake "Brake whose disc has inertia and hangs on an elastic shaft"
  parameter Types.Inertia J = 0.004 "Inertia of the disc";
  parameter Types.Stiffness c = 1e5 "Stiffness of the shaft";
  parameter Types.Damping d = 150 "Damping of the shaft";
  Interfaces.Flange_a flange "The shaft";
  SpringDamper shaft(c = c, d = d) "Shaft of the disc";
  Inertia disc(J = J) "Disc";
  Brake brake(law = Types.FrictionLaw.smooth, level = Types.LockingLevel.position) "Friction";
  Interfaces.RealInput pressure "Relative pressure";
equation
  brake.pressure = pressure;
  connect(flange, shaft.flange_a);
  connect(shaft.flange_b, disc.flange_a);
  connect(disc.flange_b, brake.flange_a);
  annotation(Documentation(info = "<html>
<p>shaft - disc - friction - housing. Locks on position level: the disc stands still.</p>
</html>"));
end DiscBrake;
