within Saltus.Examples;
model StickSlip "Block on a moving belt: sticking is sliding along v = v_belt"
  parameter Real m(unit = "kg") = 1 "Mass of the block";
  parameter Real k(unit = "N/m") = 1 "Spring";
  parameter Real v_belt(unit = "m/s") = 0.2 "Speed of the belt";
  parameter Real F0(unit = "N") = 1 "Largest friction";
  parameter Real gamma(unit = "s/m") = 3 "Weakening of friction";
  Real x(unit = "m", start = 0, fixed = true) "Stretch of the spring";
  Real v(unit = "m/s", start = 0, fixed = true) "Speed of the block";
  Real F(unit = "N") "Friction on the block";
equation
  der(x) = v;
  m*der(v) = -k*x + F;
  F = if v < v_belt then F0/(1 + gamma*(v_belt - v)) else -F0/(1 + gamma*(v - v_belt));
  annotation(experiment(StopTime = 30, Interval = 0.05));
end StickSlip;
