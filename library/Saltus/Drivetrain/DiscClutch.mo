within Saltus.Drivetrain;
model DiscClutch "Clutch whose discs have inertia and hang on elastic shafts"
  extends Interfaces.TwoFlanges;
  parameter Types.Inertia J = 0.005 "Inertia of a disc";
  parameter Types.Stiffness c = 1e5 "Stiffness of a shaft";
  parameter Types.Damping d = 150 "Damping of a shaft";
  SpringDamper shaft_a(c = c, d = d) "Shaft of the first disc";
  SpringDamper shaft_b(c = c, d = d) "Shaft of the second disc";
  Inertia disc_a(J = J) "First disc";
  Inertia disc_b(J = J) "Second disc";
  Clutch clutch(law = Types.FrictionLaw.smooth, level = Types.LockingLevel.position) "Friction";
  Interfaces.RealInput pressure "Relative pressure";
equation
  clutch.pressure = pressure;
  connect(flange_a, shaft_a.flange_a);
  connect(shaft_a.flange_b, disc_a.flange_a);
  connect(disc_a.flange_b, clutch.flange_a);
  connect(clutch.flange_b, disc_b.flange_a);
  connect(disc_b.flange_b, shaft_b.flange_a);
  connect(shaft_b.flange_b, flange_b);
  annotation(Documentation(info = "<html>
<p>shaft - disc - friction - disc - shaft. Locks on position level: two discs become one body.</p>
</html>"));
end DiscClutch;
