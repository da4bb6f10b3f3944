within Saltus.Drivetrain;
package Types "Quantities and choices"
  type Angle = Real(final quantity = "Angle", final unit = "rad", displayUnit = "deg");
  type AngularVelocity = Real(final quantity = "AngularVelocity", final unit = "rad/s", nominal = 10);
  type AngularAcceleration = Real(final quantity = "AngularAcceleration", final unit = "rad/s2", nominal = 100);
  type Inertia = Real(final quantity = "MomentOfInertia", final unit = "kg.m2", min = 0);
  type Torque = Real(final quantity = "Torque", final unit = "N.m", nominal = 100);
  type Stiffness = Real(final unit = "N.m/rad", min = 0);
  type Damping = Real(final unit = "N.m.s/rad", min = 0);
  type Time = Real(final quantity = "Time", final unit = "s");
  type Length = Real(final quantity = "Length", final unit = "m");
  type Velocity = Real(final quantity = "Velocity", final unit = "m/s");
  type Mass = Real(final quantity = "Mass", final unit = "kg", min = 0);
  type Force = Real(final quantity = "Force", final unit = "N", nominal = 1000);
  type LockingLevel = enumeration(
      position "phi_rel is held at the value it had when locking began",
      velocity "w_rel = 0",
      acceleration "der(w_rel) = 0") "What a locked element keeps at zero";
  type FrictionLaw = enumeration(
      coulomb "constant against the slip",
      viscous "proportional to the slip",
      smooth "nearly constant, smooth at zero slip") "Torque of a slipping element";
  annotation(Documentation(info = "<html>
<p>The level decides which equation a locked element keeps. The motion is the same; with the first the
angle does not drift, with the second the speed does not, and with both the structure of the system
changes when the element locks; with the third it does not.</p>
</html>"));
end Types;
