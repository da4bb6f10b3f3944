within Saltus.Drivetrain;
model Fixed "Flange fixed to the housing"
  parameter Types.Angle phi0 = 0 "Angle";
  Interfaces.Flange_b flange;
equation
  flange.phi = phi0;
  annotation(Documentation(info = "<html><p>phi = phi0.</p></html>"));
end Fixed;
