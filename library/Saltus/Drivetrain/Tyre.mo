within Saltus.Drivetrain;
model Tyre "Tyre with longitudinal slip (Pacejka)"
  parameter Types.Length radius = 0.3 "Rolling radius";
  parameter Types.Force F_z = 4000 "Vertical load";
  parameter Real mu = 1 "Peak friction";
  parameter Real B = 10 "Stiffness factor";
  parameter Real C = 1.65 "Shape factor";
  parameter Real E = 0.95 "Curvature factor";
  parameter Types.Velocity v_min = 0.1 "Below this speed the slip refers to v_min";
  Interfaces.Flange_a hub;
  Interfaces.TranslationalFlange road "Moves with the vehicle";
  Types.AngularVelocity w(start = 0) "Speed of the wheel";
  Types.Velocity v(start = 0) "Speed of the vehicle";
  Real slip "Longitudinal slip";
  Types.Force F "Force on the vehicle";
equation
  w = der(hub.phi);
  v = der(road.s);
  slip = (radius*w - v)/noEvent(if v > v_min then v elseif v < -v_min then -v else v_min);
  F = mu*F_z*sin(C*atan(B*slip - E*(B*slip - atan(B*slip))));
  hub.tau = radius*F;
  road.f = -F;
  annotation(Documentation(info = "<html>
<pre>
k = (r w - v)/|v|
F = mu F_z sin(C atan(B k - E (B k - atan(B k))))
tau = r F
</pre>
</html>"));
end Tyre;
