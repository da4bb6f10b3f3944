within Saltus.Drivetrain;
model Ravigneaux "Ravigneaux gear: two suns, one carrier, one ring; without inertia"
  parameter Real ratio_small = 3 "Teeth of the ring over teeth of the small sun";
  parameter Real ratio_large = 2 "Teeth of the ring over teeth of the large sun";
  Interfaces.Flange_a sun_small "Sun that drives the ring through short and long planets";
  Interfaces.Flange_a sun_large "Sun that drives the ring through the long planets";
  Interfaces.Flange_a carrier;
  Interfaces.Flange_b ring;
equation
  sun_small.phi = (1 - ratio_small)*carrier.phi + ratio_small*ring.phi;
  sun_large.phi = (1 + ratio_large)*carrier.phi - ratio_large*ring.phi;
  ring.tau = -ratio_small*sun_small.tau + ratio_large*sun_large.tau;
  carrier.tau = -(1 - ratio_small)*sun_small.tau - (1 + ratio_large)*sun_large.tau;
  annotation(Documentation(info = "<html>
<p>Relative to the carrier the small sun turns with the ring (two meshes in a row), the large sun
against it:</p>
<pre>
phi_1 = (1 - i_1) phi_c + i_1 phi_r
phi_2 = (1 + i_2) phi_c - i_2 phi_r
tau_r = - i_1 tau_1 + i_2 tau_2
tau_c = - (1 - i_1) tau_1 - (1 + i_2) tau_2
</pre>
<p>The torques follow from the angles: no virtual work is done.</p>
</html>"));
end Ravigneaux;
