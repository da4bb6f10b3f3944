within Saltus.Examples;
model NonlinearDamper "A mass on a spring and a damper that are affine in pieces, after Reiter 3.1.3"
  parameter Real m(unit = "kg") = 1;
  parameter Real x_S[4](each unit = "m") = {0, 0.05, 0.1, 0.15} "Table 2: where the stiffness changes";
  parameter Real c[4](each unit = "N/m") = {0.05, 1, 2, 10} "Stiffness from there on";
  parameter Real v_S[4](each unit = "m/s") = {0, 0.1, 0.3, 0.5} "Table 3: where the damping changes";
  parameter Real d[4](each unit = "N.s/m") = {0.0025, 0.5, 1, 5} "Damping from there on";
  Real x(unit = "m", start = 0.3, fixed = true);
  Real v(unit = "m/s", start = 0, fixed = true);
  Real F_s(unit = "N") "Force of the spring";
  Real F_d(unit = "N") "Force of the damper";
equation
  der(x) = v;
  m*der(v) = -F_s - F_d;
  F_s = c[1]*x + sum((c[i] - c[i - 1])*(if x > x_S[i] then x - x_S[i] elseif x < -x_S[i] then x + x_S[i] else 0) for i in 2:4);
  F_d = d[1]*v + sum((d[i] - d[i - 1])*(if v > v_S[i] then v - v_S[i] elseif v < -v_S[i] then v + v_S[i] else 0) for i in 2:4);
  annotation(experiment(StopTime = 40, Tolerance = 1e-8), Documentation(info = "<html>
<p>Reiter (34) and (35). His Table 3 prints 0.025 N s/m for the first damping, but offsets that belong
to 0.0025.</p>
</html>"));
end NonlinearDamper;
