within Saltus.Examples;
model Collision "Two masses on springs that collide, after Reiter"
  parameter Real m1(unit = "kg") = 10;
  parameter Real m2(unit = "kg") = 10;
  parameter Real c1(unit = "N/m") = 20;
  parameter Real c2(unit = "N/m") = 20;
  parameter Real d1(unit = "N.s/m") = 0;
  parameter Real d2(unit = "N.s/m") = 0;
  parameter Real c_r(min = 0, max = 1) = 1 "Restitution";
  parameter Real v_min(unit = "m/s") = 1e-3 "An impact that would rebound with less ends in contact";
  Real x1(unit = "m", start = -0.5, fixed = true);
  Real x2(unit = "m", start = 0, fixed = true);
  Real v1(unit = "m/s", start = 0, fixed = true);
  Real v2(unit = "m/s", start = 0, fixed = true);
  Real gap(unit = "m");
  Real f(unit = "N") "Contact force, pushes the masses apart";
  Boolean hit(start = false, fixed = true);
  Boolean touching(start = false, fixed = true);
  discrete Boolean slow(start = false, fixed = true) "The last impact was too slow to rebound";
protected
  constant Real unit_mass(unit = "kg") = 1;
  Real s(unit = "N") "Contact force; below zero where contact ends";
  discrete Real common(unit = "m/s", start = 0, fixed = true);
  discrete Real rebound(unit = "m/s", start = 0, fixed = true);
equation
  der(x1) = v1;
  der(x2) = v2;
  m1*der(v1) = -c1*x1 - d1*v1 - f;
  m2*der(v2) = -c2*x2 - d2*v2 + f;
  gap = x2 - x1;
  hit = gap < 0;
  when hit then
    slow = c_r*(pre(v1) - pre(v2)) <= v_min;
    common = (m1*pre(v1) + m2*pre(v2))/(m1 + m2);
    rebound = if slow then 0 else c_r*(pre(v1) - pre(v2));
    reinit(v1, common - m2/(m1 + m2)*rebound);
    reinit(v2, common + m1/(m1 + m2)*rebound);
  end when;
  touching = if pre(touching) then not s < 0 else hit and not pre(hit) and slow;
  if touching then
    s = f;
    v2 - v1 = 0;
  else
    s = if pre(touching) then -unit_mass*(der(v2) - der(v1)) else 0;
    f = 0;
  end if;
  annotation(experiment(StopTime = 20, Tolerance = 1e-8), Documentation(info = "<html>
<p>Reiter 4.2 with equal contact forces. The numbers are those of his case 1; the other cases differ in
parameters. <code>saltus collisions</code> has them all.</p>
</html>"));
end Collision;
