within Saltus.Examples;
model AutomatonClutch "Friction clutch between two inertias, with the automaton of Otter et al."
  type State = enumeration(stuck, forward, startForward, backward, startBackward);
  parameter Real J1(unit = "kg.m2") = 1 "Driven inertia";
  parameter Real J2(unit = "kg.m2") = 2 "Other inertia";
  parameter Real c(unit = "N.m") = 3 "Capacity";
  Real u(unit = "N.m") = 8*sin(time) "Drive";
  Real w1(unit = "rad/s", start = 10, fixed = true) "Speed";
  Real w2(unit = "rad/s", start = 0, fixed = true) "Speed";
  Real w_rel(unit = "rad/s") = w1 - w2;
  Real a_rel(unit = "rad/s2") = der(w1) - der(w2);
  Real t_c(unit = "N.m") "Torque of the constraint";
  Real t_a(unit = "N.m") "Torque of friction";
  Real tau(unit = "N.m") "Torque through the clutch";
  State state(start = State.forward, fixed = true);
  Boolean locked = state == State.stuck;
equation
  J1*der(w1) = u - tau;
  J2*der(w2) = tau;
  0 = if locked then a_rel else t_c;
  tau = if locked then t_c else t_a;
  t_a = if state == State.forward or state == State.startForward then c else -c;
  state = if pre(state) == State.stuck then
      (if t_c > c then State.startForward elseif t_c < -c then State.startBackward else State.stuck)
    elseif pre(state) == State.startForward then
      (if w_rel > 0 then State.forward elseif a_rel < 0 then State.stuck else State.startForward)
    elseif pre(state) == State.startBackward then
      (if w_rel < 0 then State.backward elseif a_rel > 0 then State.stuck else State.startBackward)
    elseif pre(state) == State.forward then (if w_rel <= 0 then State.stuck else State.forward)
    else (if w_rel >= 0 then State.stuck else State.backward);
  annotation(experiment(StopTime = 20, Tolerance = 1e-8), Documentation(info = "<html>
<p>Otter, Schlegel, Elmqvist: Modeling and realtime simulation of an automatic gearbox using
Modelica, Figure 7, for a normal force that does not vanish. The same motion as TwoMassClutch, with
one index in all states.</p>
</html>"));
end AutomatonClutch;
