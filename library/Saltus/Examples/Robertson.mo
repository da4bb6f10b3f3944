within Saltus.Examples;
model Robertson "Stiff kinetics over eleven decades of time, with an algebraic equation"
  parameter Real k1(unit = "1/s") = 0.04 "A -> B";
  parameter Real k2(unit = "1/s") = 3e7 "B + B -> C + B";
  parameter Real k3(unit = "1/s") = 1e4 "B + C -> A + C";
  Real y1(start = 1, fixed = true) "Fraction of A";
  Real y2(start = 0, fixed = true, nominal = 1e-4) "Fraction of B";
  Real y3 "Fraction of C";
equation
  der(y1) = -k1*y1 + k3*y2*y3;
  der(y2) = k1*y1 - k3*y2*y3 - k2*y2*y2;
  y1 + y2 + y3 = 1;
  annotation(experiment(StopTime = 1e11, Tolerance = 1e-8, Interval = 0));
end Robertson;
