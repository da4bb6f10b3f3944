within Saltus.Drivetrain;
model Wheel "Wheel that rolls without slip"
  parameter Types.Length radius = 0.3 "Rolling radius";
  Interfaces.Flange_a hub;
  Interfaces.TranslationalFlange road "Moves with the vehicle";
equation
  road.s = radius*hub.phi;
  0 = hub.tau + radius*road.f;
  annotation(Documentation(info = "<html><p>s = r phi, 0 = tau + r f.</p></html>"));
end Wheel;
