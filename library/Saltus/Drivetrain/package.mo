within Saltus;
package Drivetrain "Shafts, gears, clutches, engines, vehicles"
  annotation(Documentation(info = "<html>
<p>Rotational flanges carry the angle <code>phi</code> and the flow <code>tau</code>, translational
ones the position <code>s</code> and the flow <code>f</code>, as in
<code>Modelica.Mechanics</code>: a connection between the two libraries is legal and means what it
says. A torque at a flange is positive when it flows into the component.</p>
<p>Elements that lock do so by structure: while locked, <code>w_rel = 0</code> is an equation and the
torque an unknown; while slipping, the torque follows a law. The index of the model changes with
the mode, and nothing is regularised.</p>
</html>"));
end Drivetrain;
