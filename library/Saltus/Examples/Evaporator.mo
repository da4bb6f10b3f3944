within Saltus.Examples;
model Evaporator "Vessel whose overflow opens at a level: it slides along the threshold"
  parameter Real R_b = 1 "Resistance of evaporation";
  parameter Real R_p = 0.5 "Resistance of the overflow pipe";
  parameter Real I = 0.5 "Inertia of the overflow pipe";
  parameter Real C = 15 "Capacity of the vessel";
  parameter Real f_in = 0.25 "Inflow";
  parameter Real L_th = 0.08 "Height of the pipe";
  Real p(start = 0.05, fixed = true, nominal = 0.1) "Momentum in the pipe";
  Real L(start = 0.06, fixed = true, nominal = 0.1) "Level";
equation
  if L > L_th then
    I*der(p) = -R_p*p + L;
    C*der(L) = -p/I - L/R_b + f_in;
  else
    I*der(p) = -R_p*p;
    C*der(L) = -L/R_b + f_in;
  end if;
  annotation(experiment(StopTime = 20, Interval = 0.05), Documentation(info = "<html>
<p>Example (18) of Kunkel and Mehrmann, Regularization of over- and underdetermined hybrid systems
of differential-algebraic equations.</p>
</html>"));
end Evaporator;
