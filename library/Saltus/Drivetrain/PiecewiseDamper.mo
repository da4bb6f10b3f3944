within Saltus.Drivetrain;
model PiecewiseDamper "Damper with a piecewise affine characteristic"
  extends Interfaces.Compliant;
  parameter Types.AngularVelocity w[:] = {-1, 1} "Velocities of the knots, ascending, at least two";
  parameter Types.Torque torque[size(w, 1)] = {-1, 1} "Torques at the knots";
  Types.AngularVelocity w_rel(start = 0) "Relative velocity";
protected
  parameter Integer n = size(w, 1);
  parameter Types.Damping slope[n - 1] = {(torque[i + 1] - torque[i])/(w[i + 1] - w[i]) for i in 1:n - 1};
equation
  w_rel = der(phi_rel);
  tau = torque[1] + slope[1]*(w_rel - w[1])
    + sum(if w_rel > w[i] then (slope[i] - slope[i - 1])*(w_rel - w[i]) else 0 for i in 2:n - 1);
  annotation(Documentation(info = "<html>
<p>As PiecewiseSpring, of the relative velocity: tau = torque<sub>1</sub> + d<sub>1</sub> (w_rel -
w<sub>1</sub>) + &sum; (d<sub>i</sub> - d<sub>i-1</sub>) max(0, w_rel - w<sub>i</sub>).</p>
</html>"));
end PiecewiseDamper;
