within Saltus.Drivetrain;
model ConstantTorque "Constant torque"
  parameter Types.Torque tau = 1 "Torque that drives the flange";
  Interfaces.Flange_b flange;
equation
  flange.tau = -tau;
  annotation(Documentation(info = "<html><p>tau_flange = -tau.</p></html>"));
end ConstantTorque;
