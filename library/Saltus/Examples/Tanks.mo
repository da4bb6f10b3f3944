within Saltus.Examples;
model Tanks "Two tanks with a weir and an overflow valve: two independent switches"
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  parameter Real area1(unit = "m2") = 1 "Cross-section of tank 1";
  parameter Real area2(unit = "m2") = 0.5 "Cross-section of tank 2";
  parameter Real outlet1(unit = "m2") = 2e-3 "Effective area of the outlet of tank 1";
  parameter Real outlet2(unit = "m2") = 1.5e-3 "Effective area of the outlet of tank 2";
  parameter Real valve(unit = "m2") = 2.5e-3 "Effective area of the open overflow valve";
  parameter Real weir(unit = "m") = 0.6 "Height of the weir of tank 1";
  parameter Real width(unit = "m") = 0.2 "Width of the weir";
  parameter Real discharge(unit = "1") = 0.6 "Discharge coefficient of the weir";
  parameter Real open_level(unit = "m") = 0.9 "Level 2 at which the valve opens";
  parameter Real shut_level(unit = "m") = 0.2 "Level 2 at which the valve shuts";
  parameter Real mean(unit = "m3/s") = 8e-3 "Mean inflow";
  parameter Real swing(unit = "m3/s") = 6e-3 "Amplitude of the inflow";
  parameter Real period(unit = "s") = 400 "Period of the inflow";
  constant Real pi = 3.14159265358979323846;
  Real h1(unit = "m", start = 0.3, fixed = true) "Level in tank 1";
  Real h2(unit = "m", start = 0.3, fixed = true) "Level in tank 2";
  Real q_in(unit = "m3/s", nominal = 0.01) "Inflow to tank 1";
  Real q_out1(unit = "m3/s", nominal = 0.01) "Outlet of tank 1, into tank 2";
  Real q_weir(unit = "m3/s", nominal = 0.01) "Over the weir, into tank 2";
  Real q_out2(unit = "m3/s", nominal = 0.01) "Outlet of tank 2";
  Real q_valve(unit = "m3/s", nominal = 0.01) "Through the overflow valve";
  Boolean open(start = false, fixed = true) "The valve is open";
equation
  q_in = mean + swing*sin(2*pi/period*time);
  q_out1 = outlet1*sqrt(2*g*h1);
  q_out2 = outlet2*sqrt(2*g*h2);
  q_weir = if h1 > weir then 2/3*discharge*width*sqrt(2*g)*max(h1 - weir, 0)^1.5 else 0;
  q_valve = if open then valve*sqrt(2*g*h2) else 0;
  area1*der(h1) = q_in - q_out1 - q_weir;
  area2*der(h2) = q_out1 + q_weir - q_out2 - q_valve;
  when h2 >= open_level then
    open = true;
  elsewhen h2 <= shut_level then
    open = false;
  end when;
  annotation(experiment(StopTime = 1600, Interval = 2), Documentation(info = "<html>
<p>The weir has no memory, the valve has: it opens at one level and shuts at another.</p>
</html>"));
end Tanks;
