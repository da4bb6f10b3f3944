within Saltus.Examples;
model FrictionDamper "A mass on a spring that is affine in pieces, its damping depends on speed and deflection, after Reiter 3.1.4"
  parameter Real m(unit = "kg") = 1;
  parameter Real x_S[4](each unit = "m") = {0, 0.05, 0.1, 0.15} "Table 2: where the stiffness changes";
  parameter Real c[4](each unit = "N/m") = {0.05, 1, 2, 10} "Stiffness from there on";
  parameter Real d_0(unit = "N") = 0.5 "Table 4: dry friction";
  parameter Real d_delta(unit = "N.s/m2") = 1 "Damping over the deflection";
  Real x(unit = "m", start = 0.3, fixed = true);
  Real v(unit = "m/s", start = 0, fixed = true);
  Real F_s(unit = "N") "Force of the spring";
equation
  der(x) = v;
  m*der(v) = -F_s - d_0*sign(v) - d_delta*abs(x)*v;
  F_s = c[1]*x + sum((c[i] - c[i - 1])*(if x > x_S[i] then x - x_S[i] elseif x < -x_S[i] then x + x_S[i] else 0) for i in 2:4);
  annotation(experiment(StopTime = 5, Tolerance = 1e-8), Documentation(info = "<html>
<p>Reiter (38) and (39). Dry friction ends the motion where the spring is weaker than it.</p>
</html>"));
end FrictionDamper;
