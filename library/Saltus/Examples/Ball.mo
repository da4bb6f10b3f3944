within Saltus.Examples;
model Ball "Bouncing ball: the velocity jumps at every impact, in the end it rests"
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  parameter Real e(unit = "1") = 0.7 "Coefficient of restitution";
  Real h(unit = "m", start = 1, fixed = true) "Height above the floor";
  Real v(unit = "m/s", start = 0, fixed = true) "Velocity, upwards";
  Boolean impact = h <= 0 "On the floor or below";
  Boolean flying(start = true, fixed = true);
  discrete Real v_new(unit = "m/s", start = 0, fixed = true) "Velocity after the last impact";
equation
  der(h) = v;
  if flying then
    der(v) = -g;
  else
    v = 0;
  end if;
  when {impact, h <= 0 and v <= 0} then
    v_new = if edge(impact) then -e*pre(v) else 0;
    flying = v_new > 0;
    reinit(v, v_new);
  end when;
  annotation(experiment(StopTime = 3, Interval = 0.005), Documentation(info = "<html>
<p>The impacts accumulate at sqrt(2 h/g) (1 + e)/(1 - e) = 2.5586 s. A ball too slow to leave the
floor is at rest: then v = 0 is an equation.</p>
</html>"));
end Ball;
