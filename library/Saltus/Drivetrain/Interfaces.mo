within Saltus.Drivetrain;
package Interfaces "Connectors and what components have in common"
  connector Flange_a "Rotational flange"
    Types.Angle phi "Angle of the shaft";
    flow Types.Torque tau "Torque into the component";
  end Flange_a;

  connector Flange_b "Rotational flange, the other end"
    Types.Angle phi "Angle of the shaft";
    flow Types.Torque tau "Torque into the component";
  end Flange_b;

  connector TranslationalFlange "Translational flange"
    Types.Length s "Position";
    flow Types.Force f "Force into the component";
  end TranslationalFlange;

  connector RealInput = input Real "Signal in";
  connector RealOutput = output Real "Signal out";

  partial model TwoFlanges "Two flanges"
    Flange_a flange_a "Left flange";
    Flange_b flange_b "Right flange";
  end TwoFlanges;

  partial model Compliant "Torque between two flanges, without inertia"
    extends TwoFlanges;
    Types.Angle phi_rel(start = 0) "flange_b.phi - flange_a.phi";
    Types.Torque tau "Torque that pulls the flanges together when phi_rel > 0";
  equation
    phi_rel = flange_b.phi - flange_a.phi;
    flange_b.tau = tau;
    flange_a.tau = -tau;
  end Compliant;

  partial model Slipping "Slip and torque of an element that can lock"
    constant Types.Inertia J_unit = 1 "Makes a torque of an acceleration";
    constant Types.AngularVelocity w_unit = 1 "Makes a number of a speed";
    constant Types.Torque tau_unit = 1 "Makes a torque of a number";
    parameter Boolean startLocked = false "= true: locked at the start; the speeds must agree";
    Types.Angle phi_rel(start = 0) "Relative angle";
    Types.AngularVelocity w_rel(start = 0) "Slip";
    Types.AngularAcceleration a_rel "Rate of the slip";
    Types.Torque tau "Torque against the slip";
    Types.Torque s "Along the torque while locked and the acceleration when slip begins";
    Boolean locked "No slip: w_rel = 0 is an equation";
  equation
    w_rel = der(phi_rel);
    a_rel = der(w_rel);
  end Slipping;

  partial model Friction "Friction element that locks"
    extends Slipping;
    parameter Real c_f(unit = "N.m") = 1 "Torque capacity at pressure 1";
    parameter Real peak(min = 1) = 1 "Static over kinetic capacity";
    parameter Types.FrictionLaw law = Types.FrictionLaw.coulomb "Torque while slipping";
    parameter Real theta(unit = "s/rad") = 10 "Steepness of the smooth law";
    parameter Types.LockingLevel level = Types.LockingLevel.velocity "What locking keeps";
    parameter Real p_open(min = 0) = 0 "Up to this pressure the element does not lock";
    RealInput pressure "Relative pressure, 0: open, 1: full";
    Types.Torque capacity "Kinetic torque capacity";
    Integer mode(start = if startLocked then 0 else 1, fixed = true)
      "0: locked, 1: w_rel > 0, -1: w_rel < 0, 2: open";
    Types.Torque limit "Bound of s while locked; out of reach otherwise";
    Integer direction(start = 0) "Sign the slip had; 0: locked or open";
    Boolean passed "The slip has changed sign";
    discrete Types.Angle phi_lock(start = 0, fixed = true) "phi_rel when locking began";
  equation
    capacity = c_f*pressure;
    mode = if pressure <= p_open then 2
           elseif pre(mode) == 2 or initial() and not startLocked then
             (if noEvent(w_rel < 0) then -1 else 1)
           elseif pre(mode) == 0 then
             (if s > limit then 1 elseif s < -limit then -1 else 0)
           elseif passed then 0
           else pre(mode);
    limit = peak*capacity + (if pre(mode) == 0 then 0 else tau_unit);
    direction = if pre(mode) == 2 then 0 else pre(mode);
    passed = direction*w_rel < 0;
    locked = mode == 0;
    when locked then
      phi_lock = pre(phi_rel);
    end when;
    if locked then
      s = tau;
      if level == Types.LockingLevel.position then
        phi_rel = phi_lock;
      elseif level == Types.LockingLevel.velocity then
        w_rel = 0;
      else
        a_rel = 0;
      end if;
    else
      s = if pre(mode) == 0 then mode*peak*capacity + J_unit*a_rel else 0;
      if law == Types.FrictionLaw.coulomb then
        tau = if mode == 2 then 0 else mode*capacity;
      elseif law == Types.FrictionLaw.viscous then
        tau = capacity*w_rel/w_unit;
      else
        tau = capacity*(2*theta*w_rel/(1 + (theta*w_rel)^2) + 2/3.14159265358979324*atan(theta*w_rel));
      end if;
    end if;
    annotation(Documentation(info = "<html>
<p>While slipping in direction <i>m</i> = &plusmn;1, with the capacity <i>c</i> = c_f p:</p>
<pre>
coulomb  tau = m c
viscous  tau = c w_rel
smooth   tau = c (2 th w_rel/(1 + (th w_rel)^2) + 2/pi atan(th w_rel))
</pre>
<p>While locked, one of <code>phi_rel = phi_lock</code>, <code>w_rel = 0</code>,
<code>a_rel = 0</code> holds and tau is what that needs. It stays locked while
|tau| &le; peak c. When the slip crosses zero the element locks; if the torque needed then is beyond the
capacity it goes on, or back, in the direction of that torque, at the same instant.</p>
<p>The torque while slipping does not tell whether the element had to let go, so the decision looks at
s: the torque while locked; the capacity plus the acceleration of the slip at the instant where slip
begins. s is beyond the capacity in both or in neither.</p>
<p>Below the pressure p_open the element is open: it slips through zero without an event. With the smooth
law its torque is the same as before, so a small p_open changes nothing but spares events; a Coulomb
torque is zero there.</p>
</html>"));
  end Friction;
end Interfaces;
