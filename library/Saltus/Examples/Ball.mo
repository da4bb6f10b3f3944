within Saltus.Examples;
model Ball "Bouncing ball: the velocity jumps at every impact"
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  parameter Real e(unit = "1") = 0.7 "Coefficient of restitution";
  Real h(unit = "m", start = 1, fixed = true) "Height above the floor";
  Real v(unit = "m/s", start = 0, fixed = true) "Velocity, upwards";
equation
  der(h) = v;
  der(v) = -g;
  when h <= 0 then
    reinit(v, -e*pre(v));
  end when;
  annotation(experiment(StopTime = 3, Interval = 0.005), Documentation(info = "<html>
<p>The impacts accumulate at sqrt(2 h/g) (1 + e)/(1 - e) = 2.5586 s; from there on the ball is at
rest.</p>
</html>"));
end Ball;
