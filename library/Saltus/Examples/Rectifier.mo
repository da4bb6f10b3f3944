within Saltus.Examples;
model Rectifier "Full-bridge rectifier with ideal diodes"
  model Diode "Ideal: v = 0 while it conducts, i = 0 while it blocks"
    Real v(unit = "V", nominal = 100) "Forward voltage";
    Real i(unit = "A", nominal = 10) "Forward current";
    Boolean off = s < 0 "It blocks";
  protected
    Real s(nominal = 10) "The way along both branches of the characteristic";
  equation
    v = if off then s else 0;
    i = if off then 0 else s;
  end Diode;
  parameter Real V(unit = "V") = 325 "Amplitude of the source";
  parameter Real f(unit = "Hz") = 50 "Frequency of the source";
  parameter Real R_s(unit = "Ohm") = 1 "Resistance of the source";
  parameter Real L_s(unit = "H") = 2e-3 "Inductance of the source";
  parameter Real C(unit = "F") = 470e-6 "Smoothing capacitor";
  parameter Real R(unit = "Ohm") = 100 "Load";
  constant Real pi = 3.14159265358979323846;
  Real i(unit = "A", nominal = 10) "Current out of the source";
  Real u(unit = "V", nominal = 100, start = 0, fixed = true) "Voltage of capacitor and load";
  Real v_ab(unit = "V", nominal = 100) "Voltage at the terminals of the bridge";
  Real i_load(unit = "A") "Current through the load";
  Diode positive "Diodes 1 and 4, which carry the same current";
  Diode negative "Diodes 2 and 3";
equation
  L_s*der(i) + R_s*i + v_ab = V*sin(2*pi*f*time);
  i = positive.i - negative.i;
  2*positive.v = v_ab - u;
  2*negative.v = -v_ab - u;
  C*der(u) = positive.i + negative.i - i_load;
  R*i_load = u;
  annotation(experiment(StopTime = 0.2, Interval = 2e-4), Documentation(info = "<html>
<p>While both pairs of diodes block, the current of the inductance is forced to zero: the index is
one higher and there is one state less.</p>
</html>"));
end Rectifier;
