within Saltus.Drivetrain;
package Functions "Tables"
  function interpolate "Piecewise linear, constant outside"
    input Real x;
    input Real xs[:] "Ascending";
    input Real ys[size(xs, 1)];
    output Real y;
  algorithm
    y := ys[1];
    for i in 1:size(xs, 1) - 1 loop
      y := y + (ys[i + 1] - ys[i])*max(0, min(1, (x - xs[i])/(xs[i + 1] - xs[i])));
    end for;
    annotation(Documentation(info = "<html>
<p>y = ys<sub>1</sub> + &sum; (ys<sub>i+1</sub> - ys<sub>i</sub>)
clamp((x - xs<sub>i</sub>)/(xs<sub>i+1</sub> - xs<sub>i</sub>), 0, 1)</p>
</html>"));
  end interpolate;
end Functions;
