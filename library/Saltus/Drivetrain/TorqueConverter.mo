within Saltus.Drivetrain;
model TorqueConverter "Hydrodynamic torque converter"
  parameter Real nu[:] = {0, 0.5, 0.85, 1} "Speed ratios turbine over pump, ascending";
  parameter Real k[size(nu, 1)](each unit = "N.m.s2/rad2") = {3e-3, 2.8e-3, 2e-3, 0}
    "Capacity: torque of the pump over the square of its speed";
  parameter Real ratio[size(nu, 1)] = {2, 1.5, 1, 1} "Torque of the turbine over torque of the pump";
  parameter Types.AngularVelocity w_min = 1 "Below this speed of the pump nu is that of w_min";
  Interfaces.Flange_a pump;
  Interfaces.Flange_b turbine;
  Types.AngularVelocity w_p(start = 0) "Speed of the pump";
  Types.AngularVelocity w_t(start = 0) "Speed of the turbine";
  Real speed_ratio "w_t/w_p";
equation
  w_p = der(pump.phi);
  w_t = der(turbine.phi);
  speed_ratio = w_t/noEvent(if w_p > w_min then w_p else w_min);
  pump.tau = Functions.interpolate(speed_ratio, nu, k)*noEvent(if w_p > 0 then w_p^2 else 0);
  turbine.tau = -Functions.interpolate(speed_ratio, nu, ratio)*pump.tau;
  annotation(Documentation(info = "<html>
<p>nu = w_t/w_p; tau_p = k(nu) w_p<sup>2</sup>; tau_t = -R(nu) tau_p, with piecewise linear k and R.
The pump turns forward.</p>
</html>"));
end TorqueConverter;
