within Saltus.Drivetrain;
package Functions "Tables and shapes"
  function smoothStep "From 0 at x = 0 to 1 at x = 1, twice differentiable"
    input Real x;
    output Real y;
  protected
    Real s;
  algorithm
    s := noEvent(max(0, min(1, x)));
    y := s^3*(10 + s*(6*s - 15));
    annotation(Documentation(info = "<html>
<p>y = 10 s<sup>3</sup> - 15 s<sup>4</sup> + 6 s<sup>5</sup> with s = clamp(x, 0, 1): no events.</p>
</html>"));
  end smoothStep;

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
