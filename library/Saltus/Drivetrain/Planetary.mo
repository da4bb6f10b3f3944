within Saltus.Drivetrain;
model Planetary "Planetary gear with inertias and planets"
  parameter Types.Length r_s = 1 "Radius of the sun";
  parameter Types.Length r_r = 2 "Radius of the ring";
  parameter Types.Length r_c = (r_s + r_r)/2 "Radius of the carrier, to the axes of the planets";
  parameter Types.Length r_p = (r_r - r_s)/2 "Radius of a planet";
  parameter Types.Inertia J_s = 1 "Inertia of the sun";
  parameter Types.Inertia J_c = 1 "Inertia of the carrier with the masses of the planets";
  parameter Types.Inertia J_r = 1 "Inertia of the ring";
  parameter Types.Inertia J_p = 1 "Inertia of all planets about their own axes";
  Interfaces.Flange_a sun;
  Interfaces.Flange_a carrier;
  Interfaces.Flange_b ring;
  Types.AngularVelocity w_s(start = 0) "Angular velocity of the sun";
  Types.AngularVelocity w_c(start = 0) "Angular velocity of the carrier";
  Types.AngularVelocity w_r(start = 0) "Angular velocity of the ring";
  Types.Angle phi_p(start = 0) "Angle of the planets";
  Types.AngularVelocity w_p(start = 0) "Angular velocity of the planets";
  Types.Force lambda_1 "Multiplier of the constraint of the carrier";
  Types.Force lambda_2 "Multiplier of the constraint of the planets";
equation
  w_s = der(sun.phi);
  w_c = der(carrier.phi);
  w_r = der(ring.phi);
  w_p = der(phi_p);
  J_s*der(w_s) = sun.tau + r_s*lambda_1 - r_s*lambda_2;
  J_c*der(w_c) = carrier.tau - 2*r_c*lambda_1;
  J_r*der(w_r) = ring.tau + r_r*lambda_1 + r_r*lambda_2;
  J_p*der(w_p) = -2*r_p*lambda_2;
  0 = 2*r_c*carrier.phi - r_r*ring.phi - r_s*sun.phi;
  0 = 2*r_p*phi_p - r_r*ring.phi + r_s*sun.phi;
  annotation(Documentation(info = "<html>
<p>Four rotations and two holonomic constraints (Hamann and Mehrmann, A.1):</p>
<pre>
J_s w_s' = tau_s + r_s lambda_1 - r_s lambda_2
J_c w_c' = tau_c - 2 r_c lambda_1
J_r w_r' = tau_r + r_r lambda_1 + r_r lambda_2
J_p w_p' = - 2 r_p lambda_2
0 = 2 r_c phi_c - r_r phi_r - r_s phi_s
0 = 2 r_p phi_p - r_r phi_r + r_s phi_s
</pre>
<p>The index is 3. The angle of the planets counts in the frame that stands still.</p>
</html>"));
end Planetary;
