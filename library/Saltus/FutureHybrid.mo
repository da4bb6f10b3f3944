within Saltus;
package FutureHybrid "Hybrid drivetrain with lockable friction elements, after Reiter"
  model Element "Friction element on speeds: slips with its capacity, or is locked"
    constant Real J_unit(unit = "kg.m2") = 1 "Makes a torque of an acceleration";
    parameter Real c_f(unit = "N.m") = 1 "Capacity at pressure 1";
    Real pressure "0: open, 1: full";
    Real w_rel(unit = "rad/s") "Slip";
    Real a_rel(unit = "rad/s2") "Its rate";
    Real tau(unit = "N.m") "Torque against the slip";
    Real capacity(unit = "N.m");
    Real s(unit = "N.m") "Torque while locked; capacity and rate of the slip where slip begins";
    Integer mode(start = 1, fixed = true) "0: locked, 1: w_rel > 0, -1: w_rel < 0, 2: open";
    Integer direction(start = 0) "Sign the slip had; 0: locked or open";
    Boolean passed "The slip has changed sign";
    Boolean locked "w_rel = 0 is an equation";
    Boolean struck = false "An impact on one side lets it go: its capacity bears no impulse";
    Real w_struck(unit = "rad/s") = 0 "Slip after the impact";
  protected
    Real limit(unit = "N.m");
  equation
    capacity = c_f*pressure;
    a_rel = der(w_rel);
    mode = if pressure <= 0 then 2
           elseif pre(mode) == 2 or initial() then (if noEvent(w_rel < 0) then -1 else 1)
           elseif struck then (if noEvent(w_struck < 0) then -1 else 1)
           elseif pre(mode) == 0 then (if s > limit then 1 elseif s < -limit then -1 else 0)
           elseif passed then 0
           else pre(mode);
    limit = capacity + (if pre(mode) == 0 then 0 else 1);
    direction = if pre(mode) == 2 then 0 else pre(mode);
    passed = direction*w_rel < 0;
    locked = mode == 0;
    if locked then
      s = tau;
      w_rel = 0;
    else
      s = if pre(mode) == 0 then mode*capacity + J_unit*a_rel else 0;
      tau = if mode == 2 then 0 else mode*capacity;
    end if;
    annotation(Documentation(info = "<html>
<p>The rules of Saltus.Drivetrain.Interfaces.Friction without the angle.</p>
</html>"));
  end Element;

  partial model Gear "Engine, motor and gear up to the final drive"
    parameter Real J_e(unit = "kg.m2") = 0.2 "Combustion engine";
    parameter Real J_m(unit = "kg.m2") = 0.1 "Electric engine, ring of the first set";
    parameter Real J_2(unit = "kg.m2") = 0.05 "Ring of the third set";
    parameter Real J_f(unit = "kg.m2") = 0.15 "Final drive, carrier of the third set";
    parameter Real r_1 = 3 "Ring over small sun";
    parameter Real r_2 = 1.5 "Ring over large sun";
    parameter Real i_3 = 2 "Ring over sun of the third set";
    parameter Real i_f = 3.5 "Final drive";
    Real tau_e(unit = "N.m") "Torque of the combustion engine";
    Real tau_m(unit = "N.m") "Torque of the electric engine";
    Real tau_s(unit = "N.m") "Torque into the output shaft";
    Real w_e(unit = "rad/s", start = 0, fixed = true) "Combustion engine";
    Real w_m(unit = "rad/s", start = 0, fixed = true) "Electric engine";
    Real w_R3(unit = "rad/s", start = 0, fixed = true) "Ring of the third set";
    Real w_f(unit = "rad/s", start = 0, fixed = true) "Final drive";
    Real w_K(unit = "rad/s") "Carrier of the first two sets, sun of the third";
    Element C0(c_f = 300), C1(c_f = 600), C2(c_f = 600), C3(c_f = 900);
  equation
    w_K = (1 + i_3)*w_f - i_3*w_R3;
    C0.w_rel = w_e - w_m;
    C1.w_rel = r_1*w_m + (1 - r_1)*w_K;
    C2.w_rel = -r_2*w_m + (1 + r_2)*w_K;
    C3.w_rel = w_R3;
    J_e*der(w_e) = tau_e - C0.tau;
    J_m*der(w_m) = tau_m + C0.tau - r_1*C1.tau + r_2*C2.tau;
    J_2*der(w_R3) = i_3*((1 - r_1)*C1.tau + (1 + r_2)*C2.tau) - C3.tau;
    J_f*der(w_f) = -(1 + i_3)*((1 - r_1)*C1.tau + (1 + r_2)*C2.tau) - tau_s/i_f;
  end Gear;

  partial model Drive "Shifts and torques of the test run"
    extends Gear(w_e(start = 80));
  protected
    Real u(unit = "s") = time;
  equation
    C3.pressure = if u < 0.2 then 0 elseif u < 0.5 then (u - 0.2)/0.3 else 1;
    C2.pressure = if u < 0.5 then 0 elseif u < 0.8 then (u - 0.5)/0.3 elseif u < 3 then 1
                  elseif u < 3.2 then 1 - (u - 3)/0.2 else 0;
    C1.pressure = if u < 3.1 then 0 elseif u < 3.5 then (u - 3.1)/0.4 else 1;
    C0.pressure = if u < 5 then 0 elseif u < 5.5 then 0.5*(u - 5)/0.5 else 0.5;
    tau_m = if u < 1 then 20 elseif u < 6 then 80 else 20;
    tau_e = if u < 5 then 0 else 60;
  end Drive;

  model Reduced "Six states and four elements"
    extends Drive;
    parameter Real J_v(unit = "kg.m2") = 135 "Vehicle, on a wheel of 1 m";
    parameter Real c(unit = "N.m/rad") = 4000 "Stiffness of the output shaft";
    parameter Real d(unit = "N.m.s/rad") = 60 "Its damping";
    Real w_w(unit = "rad/s", start = 0, fixed = true) "Wheel";
    Real dphi(unit = "rad", start = 0, fixed = true) "Torsion of the output shaft";
  equation
    der(dphi) = w_f/i_f - w_w;
    tau_s = c*dphi + d*der(dphi);
    J_v*der(w_w) = tau_s - 20;
    annotation(experiment(StopTime = 8, Tolerance = 1e-8), Documentation(info = "<html>
<p>Reiter 2.2: combustion engine, electric engine, Ravigneaux set and a third planetary set, clutch
C0 to the combustion engine, brakes C1 and C2 on the suns and C3 on the third ring, and a vehicle
behind an elastic shaft. C3 and C2 make the first gear (5:1), C3 and C1 the second (2:1).</p>
</html>"));
  end Reduced;

  model Extended "Nine states and five elements: two springs, wheel and tyre"
    extends Drive;
    parameter Real J_z(unit = "kg.m2") = 3.4093 "Intermediate inertia (Table 11)";
    parameter Real J_w(unit = "kg.m2") = 1.5 "Wheel";
    parameter Real J_v(unit = "kg.m2") = 135 "Vehicle, on a wheel of 1 m";
    parameter Real c(unit = "N.m/rad") = 4000 "Stiffness of the output shaft";
    parameter Real d(unit = "N.m.s/rad") = 60 "Its damping";
    parameter Real k_1(unit = "N.m/rad") = 800 "Stiffness of the second shaft up to the border (Table 12)";
    parameter Real k_2(unit = "N.m/rad") = 20000 "Beyond it";
    parameter Real border(unit = "rad") = 6e-3 "Where it changes";
    parameter Real d_z(unit = "N.m.s/rad") = 5 "Damping of the second shaft";
    Real w_z(unit = "rad/s", start = 0, fixed = true) "Intermediate inertia";
    Real w_w(unit = "rad/s", start = 0, fixed = true) "Wheel";
    Real w_v(unit = "rad/s", start = 0, fixed = true) "Vehicle";
    Real dphi(unit = "rad", start = 0, fixed = true) "Torsion of the output shaft";
    Real dphi_z(unit = "rad", start = 0, fixed = true) "Torsion of the second shaft";
    Real tau_z(unit = "N.m") "Torque of the second shaft";
    Element Cw(c_f = 800) "Tyre on the road";
  equation
    Cw.pressure = 1;
    Cw.w_rel = w_w - w_v;
    der(dphi) = w_f/i_f - w_z;
    der(dphi_z) = w_z - w_w;
    tau_s = c*dphi + d*der(dphi);
    tau_z = d_z*der(dphi_z) + (if dphi_z > border then k_2*dphi_z - (k_2 - k_1)*border
                               elseif dphi_z < -border then k_2*dphi_z + (k_2 - k_1)*border
                               else k_1*dphi_z);
    J_z*der(w_z) = tau_s - tau_z;
    J_w*der(w_w) = tau_z - Cw.tau;
    J_v*der(w_v) = Cw.tau - 20;
    annotation(experiment(StopTime = 8, Tolerance = 1e-8), Documentation(info = "<html>
<p>Reiter 3.3.2: as Reduced, with an intermediate inertia, a spring of two stiffnesses, a wheel and a
tyre that is a friction element.</p>
</html>"));
  end Extended;

  package SpringCases "Reiter's three springs of two stiffnesses (3.3.2, Table 12)"
    model Case1 "Soft, then stiff from 6e-3 rad on"
      extends Extended(k_1 = 800, k_2 = 20000, border = 6e-3);
      annotation(experiment(StopTime = 8, Tolerance = 1e-8));
    end Case1;
    model Case2 "Soft, then stiff from 7e-3 rad on"
      extends Extended(k_1 = 800, k_2 = 20000, border = 7e-3);
      annotation(experiment(StopTime = 8, Tolerance = 1e-8));
    end Case2;
    model Case3 "Stiff, then soft from 0.25e-3 rad on"
      extends Extended(k_1 = 20000, k_2 = 800, border = 0.25e-3);
      annotation(experiment(StopTime = 8, Tolerance = 1e-8));
    end Case3;
  end SpringCases;

  partial model Clearance "The second shaft can twist only so far: wheel and intermediate inertia collide"
    extends Gear(i_f = 1);
    parameter Real dphi_max(unit = "rad") = 1e-4 "Largest torsion of the second shaft (Table 16)";
    parameter Real c_r(min = 0, max = 1) = 0 "Restitution (Table 16)";
    parameter Real v_min(unit = "rad/s") = 1e-4 "An impact that would rebound with less ends in contact";
    parameter Real J_z(unit = "kg.m2") = 3.4093 "Intermediate inertia (Table 15)";
    parameter Real J_w(unit = "kg.m2") = 1.5 "Wheel";
    parameter Real J_v(unit = "kg.m2") = 135 "Vehicle, on a wheel of 1 m";
    parameter Real k_z(unit = "N.m/rad") = 4000 "Stiffness of the second shaft";
    parameter Real d_z(unit = "N.m.s/rad") = 5 "Its damping";
    parameter Real c(unit = "N.m/rad") = 4000 "Stiffness of the output shaft";
    parameter Real d(unit = "N.m.s/rad") = 60 "Its damping";
    Real w_z(unit = "rad/s", start = 0, fixed = true) "Intermediate inertia";
    Real w_w(unit = "rad/s", start = 0, fixed = true) "Wheel";
    Real w_v(unit = "rad/s", start = 0, fixed = true) "Vehicle";
    Real dphi(unit = "rad", start = 0, fixed = true) "Torsion of the output shaft";
    Real dphi_z(unit = "rad", start = 0, fixed = true) "Torsion of the second shaft";
    Real tau_z(unit = "N.m") "Torque of the second shaft";
    Real tau_c(unit = "N.m") "Torque of the contact";
    Boolean hit(start = false, fixed = true) "Beyond the largest torsion and on the way on";
    Boolean touching(start = false, fixed = true) "They move as one";
    Integer impacts(start = 0, fixed = true);
    Element Cw(c_f = 800, struck = hit and not pre(hit), w_struck = common + J_z/(J_z + J_w)*rebound - w_v) "Tyre on the road";
  protected
    constant Real J_unit(unit = "kg.m2") = 1 "Makes a torque of an acceleration";
    discrete Boolean slow(start = false, fixed = true) "The last impact was too slow to rebound";
    discrete Real common(unit = "rad/s", start = 0, fixed = true) "Speed of a plastic impact";
    discrete Real rebound(unit = "rad/s", start = 0, fixed = true) "w_w - w_z after the impact";
    Real s(unit = "N.m") "Torque of the contact; below zero where it ends";
  equation
    Cw.pressure = 1;
    Cw.w_rel = w_w - w_v;
    der(dphi) = w_f/i_f - w_z;
    der(dphi_z) = w_z - w_w;
    tau_s = c*dphi + d*der(dphi);
    tau_z = k_z*dphi_z + d_z*der(dphi_z);
    J_z*der(w_z) = tau_s - tau_z - tau_c;
    J_w*der(w_w) = tau_z + tau_c - Cw.tau;
    J_v*der(w_v) = Cw.tau - 20;
    hit = dphi_z > dphi_max and w_z > w_w;
    when hit then
      slow = c_r*(pre(w_z) - pre(w_w)) <= v_min;
      common = (J_z*pre(w_z) + J_w*pre(w_w))/(J_z + J_w);
      rebound = if slow then 0 else c_r*(pre(w_z) - pre(w_w));
      reinit(w_z, common - J_w/(J_z + J_w)*rebound);
      reinit(w_w, common + J_z/(J_z + J_w)*rebound);
      impacts = pre(impacts) + 1;
    end when;
    touching = if pre(touching) then not s < 0 else hit and not pre(hit) and slow;
    if touching then
      s = tau_c;
      w_z = w_w;
    else
      s = if pre(touching) then J_unit*(der(w_w) - der(w_z)) else 0;
      tau_c = 0;
    end if;
    C0.pressure = 0;
    C1.pressure = 0;
    C3.pressure = if time < 0.2 then 0 elseif time < 0.5 then (time - 0.2)/0.3 else 1;
    C2.pressure = if time < 0.5 then 0 elseif time < 0.8 then (time - 0.5)/0.3 else 1;
    tau_e = 0;
    tau_m = if time < 2 then 20 else 90;
  end Clearance;

  package ClearanceCases "Reiter's three drivetrains with a clearance (4.5, Tables 15 and 16)"
    model Case1 "Elastic impacts"
      extends Clearance(dphi_max = 1e-4, c_r = 1);
      annotation(experiment(StopTime = 4, Tolerance = 1e-8));
    end Case1;
    model Case2 "Plastic impacts"
      extends Clearance(dphi_max = 1e-4, c_r = 0);
      annotation(experiment(StopTime = 4, Tolerance = 1e-8));
    end Case2;
    model Case3 "A larger clearance"
      extends Clearance(dphi_max = 2e-3, c_r = 0);
      annotation(experiment(StopTime = 4, Tolerance = 1e-8));
    end Case3;
  end ClearanceCases;

  partial model TyreDrive "As Extended with a linear second shaft; which tyre is left open"
    extends Gear(w_m(start = 17.5*w_start), w_f(start = 3.5*w_start));
    parameter Integer test(min = 1, max = 4) = 1 "Reiter's case";
    parameter Real w_start(unit = "rad/s") = if test == 1 then 0 else 2 "Wheel at the start, in first gear";
    parameter Real s_start = 0 "Slip at the start";
    parameter Real tau_drive(unit = "N.m") = if test == 3 then 60 else 55 "Torque of cases 2 and 3";
    parameter Real J_z(unit = "kg.m2") = 3.4093 "Intermediate inertia (Table 15)";
    parameter Real J_w(unit = "kg.m2") = 1.5 "Wheel";
    parameter Real J_v(unit = "kg.m2") = 135 "Vehicle, on a wheel of 1 m";
    parameter Real k_z(unit = "N.m/rad") = 4000 "Stiffness of the second shaft";
    parameter Real d_z(unit = "N.m.s/rad") = 60 "Its damping";
    parameter Real c(unit = "N.m/rad") = 4000 "Stiffness of the output shaft";
    parameter Real d(unit = "N.m.s/rad") = 60 "Its damping";
    parameter Real tau_roll(unit = "N.m") = 20 "Rolling resistance";
    parameter Real c_air(unit = "N.m.s2/rad2") = 0.4 "Drag over the square of the speed";
    Real w_z(unit = "rad/s", start = w_start, fixed = true) "Intermediate inertia";
    Real w_w(unit = "rad/s", start = (1 + s_start)*w_start, fixed = true) "Wheel";
    Real w_v(unit = "rad/s", start = if test == 1 then 30 else w_start, fixed = true) "Vehicle";
    Real dphi(unit = "rad", start = 0, fixed = true) "Torsion of the output shaft";
    Real dphi_z(unit = "rad", start = 0, fixed = true) "Torsion of the second shaft";
    Real tau_z(unit = "N.m") "Torque of the second shaft";
    Real tau_w(unit = "N.m") "Torque of the tyre on the vehicle";
  equation
    der(dphi) = w_f/i_f - w_z;
    der(dphi_z) = w_z - w_w;
    tau_s = c*dphi + d*der(dphi);
    tau_z = k_z*dphi_z + d_z*der(dphi_z);
    J_z*der(w_z) = tau_s - tau_z;
    J_w*der(w_w) = tau_z - tau_w;
    J_v*der(w_v) = tau_w - tau_roll - c_air*w_v^2;
    tau_e = 0;
    C0.pressure = 0;
    C1.pressure = 0;
    C3.pressure = if test > 1 then 1 elseif time < 1 then 0 elseif time < 2 then time - 1 else 1;
    C2.pressure = if test > 1 then 1 elseif time < 2 then 0 elseif time < 4 then 0.5*(time - 2) else 1;
    tau_m = if test == 1 then (if time < 5 then 0 else 40)
            elseif test == 4 then (if time < 1 or time > 2 and time < 3 or time > 4 and time < 5 or time > 6 then 5 else 90)
            elseif time < 1 or time > 3 then 5
            else tau_drive;
  end TyreDrive;

  partial model TyreByClutch "The tyre as a friction element of constant pressure (Reiter 5.2)"
    extends TyreDrive(s_start = 0.02);
    Element Cw(c_f = 800) "Tyre on the road";
  equation
    Cw.pressure = 1;
    Cw.w_rel = w_w - w_v;
    tau_w = Cw.tau;
  end TyreByClutch;

  partial model TyreByFormula "The tyre by the magic formula, Reiter (138)"
    extends TyreDrive;
    parameter Real B = 10 "Stiffness factor";
    parameter Real C = 1.9 "Shape factor";
    parameter Real D(unit = "N.m") = 800 "Peak";
    parameter Real E = 0.97 "Curvature factor";
    parameter Real w_least(unit = "rad/s") = 0.1 "Slip refers to at least this speed";
    Real slip "Longitudinal slip";
  equation
    slip = (w_w - w_v)/noEvent(max(abs(w_v), w_least));
    tau_w = D*sin(C*atan(B*slip - E*(B*slip - atan(B*slip))));
  end TyreByFormula;

  package TyreCases "Reiter's four comparisons (5.2): test 1 to 4, each with both tyres"
    model Clutch "The tyre as a friction element"
      extends TyreByClutch;
      annotation(experiment(StopTime = 8, Tolerance = 1e-8));
    end Clutch;
    model Formula "The tyre by the magic formula"
      extends TyreByFormula;
      annotation(experiment(StopTime = 8, Tolerance = 1e-8));
    end Formula;
  end TyreCases;
end FutureHybrid;
