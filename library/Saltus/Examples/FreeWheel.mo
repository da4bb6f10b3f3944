within Saltus.Examples;
model FreeWheel "Free wheel between two inertias, with the automaton of Otter et al."
  type State = enumeration(stuck, forward, startForward);
  parameter Real J1(unit = "kg.m2") = 1 "Driver";
  parameter Real J2(unit = "kg.m2") = 2 "Load";
  Real u(unit = "N.m") = 6*cos(2*time) "Drive";
  Real w1(unit = "rad/s", start = 0, fixed = true) "Speed of the driver";
  Real w2(unit = "rad/s", start = 0, fixed = true) "Speed of the load";
  Real w_rel(unit = "rad/s") = w2 - w1 "The load runs ahead";
  Real a_rel(unit = "rad/s2") = der(w2) - der(w1);
  Real t_c(unit = "N.m") "Torque of the constraint, on the driver";
  State state(start = State.stuck, fixed = true);
  Boolean locked = state == State.stuck;
equation
  J1*der(w1) = u + t_c;
  J2*der(w2) = -t_c;
  0 = if locked then a_rel else t_c;
  state = if pre(state) == State.stuck then (if t_c > 0 then State.startForward else State.stuck)
    elseif pre(state) == State.startForward then
      (if w_rel > 0 then State.forward elseif a_rel < 0 then State.stuck else State.startForward)
    else (if w_rel <= 0 then State.stuck else State.forward);
  annotation(experiment(StopTime = 6, Tolerance = 1e-8), Documentation(info = "<html>
<p>Otter, Schlegel, Elmqvist: Modeling and realtime simulation of an automatic gearbox using
Modelica, Figure 6. Stuck, the relative acceleration is zero; sliding, the torque of the constraint.
The way from stuck to forward leads over startForward because the relative speed is still zero.</p>
</html>"));
end FreeWheel;
