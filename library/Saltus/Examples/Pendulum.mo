within Saltus.Examples;
model Pendulum "A string that breaks: index 3, then free flight, then steered flight of index 1"
  partial model Mass "What all states have in common"
    parameter Real m(unit = "kg") = 1 "Mass";
    parameter Real g(unit = "m/s2") = 9.81 "Gravity";
    Real x(unit = "m") "Position, to the right";
    Real y(unit = "m") "Position, upwards";
    Real vx(unit = "m/s") "Velocity, to the right";
    Real vy(unit = "m/s") "Velocity, upwards";
  equation
    der(x) = vx;
    der(y) = vy;
  end Mass;
  model Swinging
    extends Mass(x(start = 0, fixed = true), y(start = -1), vx(start = 0, fixed = true));
    parameter Real l(unit = "m") = 1 "Length of the string";
    parameter Real f(unit = "N/s") = 8 "Growth of the tangential force";
    Real lambda(unit = "N/m", nominal = 10) "Multiplier of the string";
  equation
    m*der(vx) = -2*x*lambda - f*time*y/l;
    m*der(vy) = -m*g - 2*y*lambda + f*time*x/l;
    x^2 + y^2 = l^2;
  end Swinging;
  model Flying
    extends Mass;
  equation
    m*der(vx) = 0;
    m*der(vy) = -m*g;
  end Flying;
  model Steered "Thrust against the flight, so large that the height is critically damped"
    extends Mass;
    parameter Real beta(unit = "rad") = 0.6 "Tilt of the thrust";
    parameter Real omega(unit = "1/s") = 2 "Of the control law";
    parameter Real y_target(unit = "m") = 2 "Height it steers to";
    Real u(unit = "N", nominal = 10) "Thrust";
  equation
    m*der(vx) = -sin(beta)*u;
    m*der(vy) = -m*g + cos(beta)*u;
    cos(beta)*u = m*(g - 2*omega*vy - omega^2*(y - y_target));
  end Steered;
  parameter Real S_max(unit = "N") = 200 "Force at which the string breaks";
  Swinging swinging;
  Flying flying;
  Steered steered;
equation
  initialState(swinging);
  transition(swinging, flying, 2*swinging.l*swinging.lambda > S_max);
  transition(flying, steered, flying.vy < 0);
  annotation(experiment(StopTime = 4.8, Interval = 0.005), Documentation(info = "<html>
<p>Position and velocity go over from state to state because they have the same names in all; the
multiplier and the thrust exist in one state only.</p>
</html>"));
end Pendulum;
