within Saltus.Drivetrain;
model ShaftNode "Massless node where n shafts meet"
  parameter Integer n(min = 1) = 2 "Number of shafts";
  Interfaces.Flange_a flange[n] "The shafts";
  Types.Angle phi "Angle of the node";
equation
  for i in 1:n loop
    flange[i].phi = phi;
  end for;
  0 = sum(flange[i].tau for i in 1:n);
  annotation(Documentation(info = "<html>
<p>phi_i = phi for all shafts, and 0 = &sum; tau_i: with spring-dampers attached,
&sum; (c_i (phi - phi_i) + d_i (w - w_i)) = 0.</p>
</html>"));
end ShaftNode;
