within Saltus.Drivetrain;
block ShiftSchedule "Pressures of all clutches and brakes for a sequence of gears"
  parameter Real pattern[:, :] = [1, 0; 0, 1] "Row: gear; column: element; 1: closed, 0: open";
  parameter Integer gears[:] = {1, 2} "Gears in order of time";
  parameter Types.Time times[size(gears, 1) - 1] = {1} "Shifts begin";
  parameter Types.Time loading(min = 1e-9) = 0.2 "Time to close an element";
  parameter Types.Time opening(min = 1e-9) = 0.1 "Time to open an element";
  parameter Boolean smooth = false "= true: twice differentiable and without events, not linear";
  Interfaces.RealOutput y[size(pattern, 2)] "Relative pressures";
  Integer gear "Gear asked for";
protected
  parameter Integer shifts = size(gears, 1) - 1;
  parameter Real change[shifts, size(pattern, 2)] =
    {{pattern[gears[i + 1], k] - pattern[gears[i], k] for k in 1:size(pattern, 2)} for i in 1:shifts};
  parameter Real duration[shifts, size(pattern, 2)] =
    {{(if change[i, k] > 0 then loading else opening) for k in 1:size(pattern, 2)} for i in 1:shifts};
equation
  gear = gears[1] + sum(if time >= times[i] then gears[i + 1] - gears[i] else 0 for i in 1:shifts);
  for k in 1:size(pattern, 2) loop
    y[k] = pattern[gears[1], k] + sum(
      if smooth then change[i, k]*Functions.smoothStep((time - times[i])/duration[i, k])
      elseif time < times[i] then 0
      elseif time < times[i] + duration[i, k] then change[i, k]*(time - times[i])/duration[i, k]
      else change[i, k] for i in 1:shifts);
  end for;
  annotation(Documentation(info = "<html>
<p>At times<sub>i</sub> each element begins to move from its state in gear<sub>i</sub> to that in
gear<sub>i+1</sub> within the time of loading or of opening, linearly or as
<code>Functions.smoothStep</code>.</p>
</html>"));
end ShiftSchedule;
