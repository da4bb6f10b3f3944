within Saltus.Drivetrain;
model Backlash "Clearance between two inertias, with restitution"
  extends Interfaces.TwoFlanges;
  parameter Types.Angle b = 0.1 "Total clearance";
  parameter Real e(min = 0, max = 1) = 0.5 "Restitution: slip after an impact over slip before it";
  parameter Types.AngularVelocity w_min = 1e-3 "An impact after which the slip would be less ends in contact";
  parameter Types.Inertia J_a = 1 "Inertia of the side of flange_a";
  parameter Types.Inertia J_b = 1 "Inertia of the side of flange_b";
  Types.AngularVelocity w_a(start = 0) "Angular velocity of the side of flange_a";
  Types.AngularVelocity w_b(start = 0) "Angular velocity of the side of flange_b";
  Types.Angle phi_rel(start = 0) "flange_b.phi - flange_a.phi";
  Types.AngularVelocity w_rel "w_b - w_a";
  Types.Torque tau "Torque of the contact, against flange_b";
  Integer side(start = 0, fixed = true) "1: in contact at b/2, -1: at -b/2, 0: free";
  Boolean hit(start = false, fixed = true) "At or beyond an end of the clearance";
  discrete Boolean slow(start = false, fixed = true) "The last impact was too slow to bounce";
  Types.Torque s "Torque in contact, acceleration of the slip where contact ends";
protected
  constant Types.Inertia J_unit = 1 "Makes a torque of an acceleration";
  discrete Types.AngularVelocity w_common(start = 0, fixed = true) "Speed after a plastic impact";
  discrete Types.AngularVelocity jump(start = 0, fixed = true) "Slip after the last impact";
equation
  phi_rel = flange_b.phi - flange_a.phi;
  w_a = der(flange_a.phi);
  w_b = der(flange_b.phi);
  w_rel = w_b - w_a;
  J_a*der(w_a) = flange_a.tau + tau;
  J_b*der(w_b) = flange_b.tau - tau;
  hit = phi_rel > b/2 or phi_rel < -b/2;
  when hit then
    slow = e*abs(pre(w_rel)) <= w_min;
    w_common = (J_a*pre(w_a) + J_b*pre(w_b))/(J_a + J_b);
    jump = if slow then 0 else -e*pre(w_rel);
    reinit(w_a, w_common - J_b/(J_a + J_b)*jump);
    reinit(w_b, w_common + J_a/(J_a + J_b)*jump);
  end when;
  side = if pre(side) == 1 then (if s < 0 then 0 else 1)
         elseif pre(side) == -1 then (if s > 0 then 0 else -1)
         elseif hit and not pre(hit) and slow then (if phi_rel > 0 then 1 else -1)
         else 0;
  if side == 0 then
    s = if pre(side) <> 0 then J_unit*der(w_rel) else 0;
    tau = 0;
  else
    s = tau;
    w_rel = 0;
  end if;
  annotation(Documentation(info = "<html>
<p>Free: tau = 0 while |phi_rel| &lt; b/2. At the ends the two inertias of this component meet:</p>
<pre>
w_rel+ = - e w_rel-
J_a w_a+ + J_b w_b+ = J_a w_a- + J_b w_b-
</pre>
<p>The shafts outside must be compliant, so that no impulse reaches them. If the slip after
an impact would be below w_min, the sides stay in contact: w_rel = 0 until the contact would have to
pull.</p>
</html>"));
end Backlash;
