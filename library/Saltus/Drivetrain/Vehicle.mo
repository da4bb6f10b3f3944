within Saltus.Drivetrain;
model Vehicle "Mass of a vehicle and its resistance"
  parameter Types.Mass m = 1500 "Mass";
  parameter Real c_w = 0.3 "Drag coefficient";
  parameter Real A(unit = "m2") = 2 "Frontal area";
  parameter Real rho(unit = "kg/m3") = 1.2 "Density of the air";
  parameter Real c_r = 0.01 "Coefficient of rolling resistance";
  parameter Types.Angle slope = 0 "Slope of the road, upwards positive";
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  parameter Types.Velocity v_min = 0.01 "Rolling resistance grows to its full value over this speed";
  Interfaces.TranslationalFlange road "Where the wheels push";
  Types.Length s(start = 0) "Distance";
  Types.Velocity v(start = 0) "Speed";
  Types.Force resistance "Drag, rolling resistance and slope";
equation
  s = road.s;
  v = der(s);
  resistance = c_w*A*rho/2*v*noEvent(if v < 0 then -v else v)
    + m*g*(c_r*cos(slope)*tanh(v/v_min) + sin(slope));
  m*der(v) = road.f - resistance;
  annotation(Documentation(info = "<html>
<p>m dv/dt = f - c_w A rho/2 v|v| - m g (c_r cos(slope) tanh(v/v_min) + sin(slope)).</p>
</html>"));
end Vehicle;
