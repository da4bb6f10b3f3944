within Saltus.Drivetrain;
block SmoothCourse "Signal that goes from level to level, twice differentiable"
  parameter Types.Time times[:] = {0} "Begin of each change";
  parameter Real levels[size(times, 1)] = {1} "Level after each change; before the first it is zero";
  parameter Types.Time durations[size(times, 1)] = fill(0.5, size(times, 1)) "Duration of each change";
  Interfaces.RealOutput y "Signal";
equation
  y = sum((levels[i] - (if i > 1 then levels[max(i - 1, 1)] else 0))
          *Functions.smoothStep((time - times[i])/durations[i]) for i in 1:size(times, 1));
  annotation(Documentation(info = "<html>
<p>y = &sum; (l<sub>i</sub> - l<sub>i-1</sub>) S((t - t<sub>i</sub>)/T<sub>i</sub>) with
S = <code>Functions.smoothStep</code>.</p>
</html>"));
end SmoothCourse;
