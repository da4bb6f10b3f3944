within Saltus.Drivetrain;
model Torque "Torque given by a signal"
  Interfaces.RealInput tau(unit = "N.m") "Torque that drives the flange";
  Interfaces.Flange_b flange;
equation
  flange.tau = -tau;
  annotation(Documentation(info = "<html><p>tau_flange = -tau.</p></html>"));
end Torque;
