within Saltus.Drivetrain;
model PiecewiseSpring "Spring with a piecewise affine characteristic"
  extends Interfaces.Compliant;
  parameter Types.Angle phi[:] = {-1, 1} "Angles of the knots, ascending, at least two";
  parameter Types.Torque torque[size(phi, 1)] = {-1, 1} "Torques at the knots";
protected
  parameter Integer n = size(phi, 1);
  parameter Types.Stiffness slope[n - 1] = {(torque[i + 1] - torque[i])/(phi[i + 1] - phi[i]) for i in 1:n - 1};
equation
  tau = torque[1] + slope[1]*(phi_rel - phi[1])
    + sum(if phi_rel > phi[i] then (slope[i] - slope[i - 1])*(phi_rel - phi[i]) else 0 for i in 2:n - 1);
  annotation(Documentation(info = "<html>
<p>Through the knots (phi<sub>i</sub>, torque<sub>i</sub>), the first and last segments going on
outside. With slopes c<sub>i</sub>:</p>
<p>tau = torque<sub>1</sub> + c<sub>1</sub> (phi_rel - phi<sub>1</sub>) + &sum;
(c<sub>i</sub> - c<sub>i-1</sub>) max(0, phi_rel - phi<sub>i</sub>).</p>
<p>Passing a knot is an event, so that the integrator never steps across a kink. Knots with equal
torque between two others make a clearance.</p>
</html>"));
end PiecewiseSpring;
