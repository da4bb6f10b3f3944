within Saltus.Examples;
model Cylinder "Hydraulic cylinder with an intake and a relief valve"
  parameter Real m(unit = "kg") = 20 "Mass of the piston";
  parameter Real A(unit = "m2") = 2e-3 "Area of the piston";
  parameter Real F(unit = "N") = 6000 "Load, pushes the piston in";
  parameter Real I(unit = "kg/m4") = 1e6 "Inertia of the oil in the relief pipe";
  parameter Real R_in(unit = "Pa.s/m3") = 1e9 "Resistance of the intake";
  parameter Real R_rel(unit = "Pa.s/m3") = 2e9 "Resistance of the relief pipe";
  parameter Real p_in(unit = "Pa") = 2e6 "Pressure before the intake";
  parameter Real p_smp(unit = "Pa") = 4e6 "Pressure behind the relief pipe";
  parameter Real p_th(unit = "Pa") = 5e6 "Pressure that opens the relief valve";
  parameter Real half(unit = "s") = 0.02 "The intake is switched after this time";
  Real v(unit = "m/s") "Velocity of the piston, outwards";
  Real f_in(unit = "m3/s", nominal = 1e-3) "Flow through the intake, into the cylinder";
  Real f_rel(unit = "m3/s", nominal = 1e-3) "Flow through the relief valve, outwards";
  Real p(unit = "Pa", nominal = 1e6) "Pressure in the cylinder";
  Real p_rel(unit = "Pa", nominal = 1e6) "Pressure that drives the relief flow";
  Boolean intake(start = true, fixed = true) "The intake is open";
  Boolean relief(start = false, fixed = true) "The relief valve is open";
equation
  m*der(v) = A*p - F;
  A*v = f_in - f_rel;
  I*der(f_rel) = p_rel;
  if intake then
    R_in*f_in = p_in - p;
  else
    f_in = 0;
  end if;
  if relief then
    p_rel = p - p_smp - R_rel*f_rel;
  else
    f_rel = 0;
  end if;
  when sample(half, half) then
    intake = not pre(intake);
  end when;
  when p > p_th then
    relief = true;
  elsewhen f_rel < 0 then
    relief = false;
  end when;
  annotation(experiment(StopTime = 0.055, Tolerance = 1e-8, Interval = 1e-4), Documentation(info = "<html>
<p>After Mosterman, Mode transition behavior in hybrid dynamic systems. The relief valve opens above
its pressure and closes when nothing flows any more.</p>
</html>"));
end Cylinder;
