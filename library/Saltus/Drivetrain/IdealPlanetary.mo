within Saltus.Drivetrain;
model IdealPlanetary "Planetary gear without inertia"
  parameter Real ratio = 2 "Teeth of the ring over teeth of the sun";
  Interfaces.Flange_a sun;
  Interfaces.Flange_a carrier;
  Interfaces.Flange_b ring;
equation
  (1 + ratio)*carrier.phi = sun.phi + ratio*ring.phi;
  ring.tau = ratio*sun.tau;
  carrier.tau = -(1 + ratio)*sun.tau;
  annotation(Documentation(info = "<html>
<p>(1 + i) phi_c = phi_s + i phi_r; tau_r = i tau_s; tau_c = -(1 + i) tau_s.</p>
</html>"));
end IdealPlanetary;
