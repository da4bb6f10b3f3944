within Saltus.Drivetrain;
model Engine "Engine with a torque map"
  parameter Types.Inertia J = 0.2 "Inertia of the crankshaft";
  parameter Types.AngularVelocity speed[:] = {0, 100, 300, 600} "Speeds of the map, ascending";
  parameter Types.Torque full[size(speed, 1)] = {80, 150, 200, 140} "Torque at full throttle";
  parameter Types.Torque drag[size(speed, 1)] = {10, 15, 25, 45} "Drag torque at closed throttle";
  Interfaces.RealInput throttle "0: closed, 1: full";
  Interfaces.Flange_b flange;
  Types.AngularVelocity w(start = 0) "Speed";
  Types.Torque tau "Torque of combustion and drag";
equation
  w = der(flange.phi);
  tau = throttle*Functions.interpolate(w, speed, full) - (1 - throttle)*Functions.interpolate(w, speed, drag);
  J*der(w) = tau + flange.tau;
  annotation(Documentation(info = "<html>
<p>J dw/dt = u T_full(w) - (1 - u) T_drag(w) + tau_flange with the throttle u; the curves are
piecewise linear in w and constant outside.</p>
</html>"));
end Engine;
