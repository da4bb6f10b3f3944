within Saltus.Drivetrain;
block PressureRamp "Pressure of a clutch that is closed and opened once"
  parameter Real p_max = 1 "Full pressure";
  parameter Types.Time t_close = 0 "Loading begins";
  parameter Types.Time t_open = 1e9 "Opening begins; not before loading has ended";
  parameter Types.Time loading(min = 1e-9) = 0.2 "Time of loading";
  parameter Types.Time opening(min = 1e-9) = 0.1 "Time of opening";
  Interfaces.RealOutput y "Pressure";
equation
  y = if time < t_close then 0
      elseif time < t_close + loading then p_max*(time - t_close)/loading
      elseif time < t_open then p_max
      elseif time < t_open + opening then p_max*(1 - (time - t_open)/opening)
      else 0;
  annotation(Documentation(info = "<html>
<p>Rises linearly from 0 to p_max in [t_close, t_close + loading] and falls to 0 in [t_open, t_open +
opening].</p>
</html>"));
end PressureRamp;
