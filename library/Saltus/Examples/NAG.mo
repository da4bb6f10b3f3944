within Saltus.Examples;
model NAG "Automatic gearbox: five gears, three planetary sets, clutches that lock by structure"
  import Saltus.Drivetrain.*;

  type Mode = enumeration(
      M1, M2, M3, M4, M5, MN, MR1, MR2,
      M12, M21, M23, M32, M34, M43, M45, M54, MR1R2, MR2R1,
      open, k1, k2, k3, b1, b2, b3,
      'k1+k3', 'k1+b1', 'k1+b3', 'k2+b1', 'k2+b2', 'k2+b3', 'b1+b2', 'b1+b3', 'b2+b3',
      other) "Gear, or the shift from gear to gear, or what else is locked";
  constant Real pattern[8, 6] = [
      0, 0, 1, 1, 1, 0;
      1, 0, 1, 0, 1, 0;
      1, 1, 0, 0, 1, 0;
      1, 1, 1, 0, 0, 0;
      0, 1, 1, 1, 0, 0;
      0, 0, 1, 1, 0, 0;
      0, 0, 1, 1, 0, 1;
      1, 0, 1, 0, 0, 1] "Row: gear 1 to 5, N, R1, R2; column: k1 k2 k3 b1 b2 b3; 1: closed";
  constant Boolean carries[8, 2] = [
      true, true; false, true; false, false; false, false;
      true, false; false, false; true, false; false, false] "Free wheels f1 f2 that carry torque";

  parameter Integer gears[:] = {1, 2, 3, 2} "Gears in order of time; 6: N, 7: R1, 8: R2";
  parameter Types.Time shifts[size(gears, 1) - 1] = {2, 4, 6} "Times of the shift commands";
  parameter Types.Time T_load = 0.2 "Time to load an element";
  parameter Types.Time T_open = 0.1 "Time to open an element";
  parameter Real released[6] = fill(0, 6) "1: the element gets no pressure even where a gear asks";
  parameter Boolean freeWheels = false "= true: f1 and f2 lock and overrun; false: they are open";

  parameter Types.Time M_M_times[:] = {0} "Changes of the engine torque";
  parameter Types.Torque M_M_levels[size(M_M_times, 1)] = {180} "Engine torque after each change";
  parameter Types.Time M_M_durations[size(M_M_times, 1)] = {0.5} "Duration of each change";
  parameter Types.Torque M_B_max = 60 "Load torque; brakes forward motion";
  parameter Types.Time M_B_rise = 3 "Rise time of the load";

  parameter Types.Stiffness D = 1e5 "Stiffness of a shaft";
  parameter Types.Damping C = 150 "Damping of a shaft";
  parameter Real theta(unit = "s/rad") = 0.5 "Slope of the friction law at zero slip";
  parameter Types.Torque C1_k1 = 650 "Capacity of k1 at full pressure";
  parameter Types.Torque C1_k2 = 700 "Capacity of k2 at full pressure";
  parameter Types.Torque C1_k3 = 1000 "Capacity of k3 at full pressure";
  parameter Types.Torque C1_b1 = 300 "Capacity of b1 at full pressure";
  parameter Types.Torque C1_b2 = 2000 "Capacity of b2 at full pressure";
  parameter Types.Torque C1_b3 = 600 "Capacity of b3 at full pressure";
  parameter Types.Inertia J_k = 0.005 "Inertia of a disc of a clutch";
  parameter Types.Inertia J_b = 0.004 "Inertia of the disc of a brake";
  parameter Real i1 = 3.59 "Transmission of gear 1";
  parameter Real i2 = 2.19 "Transmission of gear 2";
  parameter Real i3 = 1.41 "Transmission of gear 3";

  Planetary P1(r_r = 0.080, r_s = 0.080*(i1/i2 - 1), J_s = 0.003, J_c = 0.010, J_r = 0.200, J_p = 0.0002)
    "Front set; its ring carries the inertia of engine and turbine";
  Planetary P2(r_r = 0.085, r_s = 0.085*(i3 - 1), J_s = 0.002, J_c = 17, J_r = 0.010, J_p = 0.0002)
    "Rear set; its carrier is the output and carries the vehicle";
  Planetary P3(r_r = 0.085, r_s = 0.085*(i2/i3 - 1), J_s = 0.002, J_c = 0.008, J_r = 0.010, J_p = 0.0002)
    "Middle set";
  SpringDamper shaft_1(c = D, d = C) "Sun of P1";
  SpringDamper shaft_2(c = D, d = C) "Carrier of P1";
  SpringDamper shaft_3(c = D, d = C) "Ring of P1";
  SpringDamper shaft_5(c = D, d = C) "Sun of P2";
  SpringDamper shaft_7(c = D, d = C) "Ring of P2";
  SpringDamper shaft_9(c = D, d = C) "Sun of P3";
  SpringDamper shaft_10(c = D, d = C) "Carrier of P3";
  SpringDamper shaft_11(c = D, d = C) "Ring of P3";
  SpringDamper shaft_22(c = D, d = C) "f1";
  SpringDamper shaft_23(c = D, d = C) "f2, driven side";
  SpringDamper shaft_24(c = D, d = C) "f2, driving side";
  ShaftNode node_25(n = 3) "Engine";
  ShaftNode node_26(n = 3) "Carrier of P1, ring of P3";
  ShaftNode node_27(n = 4) "Sun of P1";
  ShaftNode node_28(n = 4) "Ring of P2, carrier of P3";
  ShaftNode node_29(n = 4) "Sun of P2";
  ShaftNode node_30(n = 3) "Sun of P3";
  DiscClutch k1(J = J_k, pressure(start = pattern[gears[1], 1]), c = D, d = C, clutch(c_f = C1_k1, theta = theta, p_open = p_open,
    startLocked = pattern[gears[1], 1]*(1 - released[1]) > 0.5)) "Makes P1 turn as one";
  DiscClutch k2(J = J_k, pressure(start = pattern[gears[1], 2]), c = D, d = C, clutch(c_f = C1_k2, theta = theta, p_open = p_open,
    startLocked = pattern[gears[1], 2]*(1 - released[2]) > 0.5)) "Engine to ring of P2";
  DiscClutch k3(J = J_k, pressure(start = pattern[gears[1], 3]), c = D, d = C, clutch(c_f = C1_k3, theta = theta, p_open = p_open,
    startLocked = pattern[gears[1], 3]*(1 - released[3]) > 0.5)) "Couples the rear suns";
  DiscBrake b1(J = J_b, pressure(start = pattern[gears[1], 4]), c = D, d = C, brake(c_f = C1_b1, theta = theta, p_open = p_open,
    startLocked = pattern[gears[1], 4]*(1 - released[4]) > 0.5)) "Holds the sun of P1";
  DiscBrake b2(J = J_b, pressure(start = pattern[gears[1], 5]), c = D, d = C, brake(c_f = C1_b2, theta = theta, p_open = p_open,
    startLocked = pattern[gears[1], 5]*(1 - released[5]) > 0.5)) "Holds the sun of P2";
  DiscBrake b3(J = J_b, pressure(start = pattern[gears[1], 6]), c = D, d = C, brake(c_f = C1_b3, theta = theta, p_open = p_open,
    startLocked = pattern[gears[1], 6]*(1 - released[6]) > 0.5)) "Holds the ring of P2";
  FreeWheel f1(startLocked = carries[gears[1], 1]) if freeWheels "Lets the sun of P1 turn forwards";
  Fixed housing if freeWheels;
  FreeWheel f2(startLocked = carries[gears[1], 2]) if freeWheels "Lets the sun of P3 overtake that of P2";
  Torque engine "At node 25";
  Torque load "At the output";
  SmoothCourse M_M(times = M_M_times, levels = M_M_levels, durations = M_M_durations) "Engine torque";
  SmoothCourse M_B(times = {0}, levels = {M_B_max}, durations = {M_B_rise}) "Load torque";
  ShiftSchedule schedule(pattern = pattern, gears = gears, times = shifts, loading = T_load,
    opening = T_open, smooth = true) "Pressures";

  Types.AngularVelocity w_in "Speed of the ring of P1: engine";
  Types.AngularVelocity w_out "Speed of the carrier of P2: output";
  Types.Torque tau_k1 "Torque of k1";
  Types.Torque tau_k2 "Torque of k2";
  Types.Torque tau_k3 "Torque of k3";
  Types.Torque tau_b1 "Torque of b1";
  Types.Torque tau_b2 "Torque of b2";
  Types.Torque tau_b3 "Torque of b3";
  Types.AngularVelocity slip_k1 "Slip of k1";
  Types.AngularVelocity slip_k2 "Slip of k2";
  Types.AngularVelocity slip_k3 "Slip of k3";
  Types.AngularVelocity slip_b1 "Slip of b1";
  Real p_k1(unit = "1") "Pressure of k1";
  Real p_k2(unit = "1") "Pressure of k2";
  Real p_k3(unit = "1") "Pressure of k3";
  Real p_b1(unit = "1") "Pressure of b1";
  Real p_b2(unit = "1") "Pressure of b2";
  Real p_b3(unit = "1") "Pressure of b3";
  Mode mode(start = Mode.other) "Locked elements" annotation(__Saltus(modeName = true));
  Integer locked(start = 0) "1, 2, 4, 8, 16, 32: k1, k2, k3, b1, b2, b3";
protected
  constant Real p_open = 1e-3 "Pressure below which an element is not looked at";
equation
  w_in = P1.w_r;
  w_out = P2.w_c;
  tau_k1 = k1.clutch.tau;
  slip_k1 = k1.clutch.w_rel;
  p_k1 = k1.pressure;
  tau_k2 = k2.clutch.tau;
  slip_k2 = k2.clutch.w_rel;
  p_k2 = k2.pressure;
  tau_k3 = k3.clutch.tau;
  slip_k3 = k3.clutch.w_rel;
  p_k3 = k3.pressure;
  tau_b1 = b1.brake.tau;
  slip_b1 = b1.brake.w_rel;
  p_b1 = b1.pressure;
  tau_b2 = b2.brake.tau;
  p_b2 = b2.pressure;
  tau_b3 = b3.brake.tau;
  p_b3 = b3.pressure;
  engine.tau = M_M.y;
  load.tau = -M_B.y;
  k1.pressure = (1 - released[1])*schedule.y[1];
  k2.pressure = (1 - released[2])*schedule.y[2];
  k3.pressure = (1 - released[3])*schedule.y[3];
  b1.pressure = (1 - released[4])*schedule.y[4];
  b2.pressure = (1 - released[5])*schedule.y[5];
  b3.pressure = (1 - released[6])*schedule.y[6];
  connect(engine.flange, node_25.flange[1]);
  connect(shaft_3.flange_b, node_25.flange[2]);
  connect(k2.flange_a, node_25.flange[3]);
  connect(shaft_2.flange_b, node_26.flange[1]);
  connect(shaft_11.flange_b, node_26.flange[2]);
  connect(k1.flange_b, node_26.flange[3]);
  connect(shaft_1.flange_b, node_27.flange[1]);
  connect(k1.flange_a, node_27.flange[2]);
  connect(b1.flange, node_27.flange[3]);
  connect(shaft_22.flange_b, node_27.flange[4]);
  connect(shaft_7.flange_b, node_28.flange[1]);
  connect(shaft_10.flange_b, node_28.flange[2]);
  connect(k2.flange_b, node_28.flange[3]);
  connect(b3.flange, node_28.flange[4]);
  connect(shaft_5.flange_b, node_29.flange[1]);
  connect(k3.flange_a, node_29.flange[2]);
  connect(b2.flange, node_29.flange[3]);
  connect(shaft_23.flange_b, node_29.flange[4]);
  connect(shaft_9.flange_b, node_30.flange[1]);
  connect(k3.flange_b, node_30.flange[2]);
  connect(shaft_24.flange_b, node_30.flange[3]);
  connect(P1.sun, shaft_1.flange_a);
  connect(P1.carrier, shaft_2.flange_a);
  connect(P1.ring, shaft_3.flange_a);
  connect(P2.sun, shaft_5.flange_a);
  connect(P2.carrier, load.flange);
  connect(P2.ring, shaft_7.flange_a);
  connect(P3.sun, shaft_9.flange_a);
  connect(P3.carrier, shaft_10.flange_a);
  connect(P3.ring, shaft_11.flange_a);
  connect(housing.flange, f1.flange_a);
  connect(f1.flange_b, shaft_22.flange_a);
  connect(f2.flange_a, shaft_23.flange_a);
  connect(f2.flange_b, shaft_24.flange_a);

  locked = (if k1.clutch.locked then 1 else 0) + (if k2.clutch.locked then 2 else 0)
    + (if k3.clutch.locked then 4 else 0) + (if b1.brake.locked then 8 else 0)
    + (if b2.brake.locked then 16 else 0) + (if b3.brake.locked then 32 else 0);
  mode = if locked == 28 then Mode.M1 elseif locked == 21 then Mode.M2
    elseif locked == 19 then Mode.M3 elseif locked == 7 then Mode.M4
    elseif locked == 14 then Mode.M5 elseif locked == 12 then Mode.MN
    elseif locked == 44 then Mode.MR1 elseif locked == 37 then Mode.MR2
    elseif locked == 20 then (if pre(mode) == Mode.M2 or pre(mode) == Mode.M21 then Mode.M21 else Mode.M12)
    elseif locked == 17 then (if pre(mode) == Mode.M3 or pre(mode) == Mode.M32 then Mode.M32 else Mode.M23)
    elseif locked == 3 then (if pre(mode) == Mode.M4 or pre(mode) == Mode.M43 then Mode.M43 else Mode.M34)
    elseif locked == 6 then (if pre(mode) == Mode.M5 or pre(mode) == Mode.M54 then Mode.M54 else Mode.M45)
    elseif locked == 36 then (if pre(mode) == Mode.MR2 or pre(mode) == Mode.MR2R1 then Mode.MR2R1 else Mode.MR1R2)
    elseif locked == 0 then Mode.open elseif locked == 1 then Mode.k1
    elseif locked == 2 then Mode.k2 elseif locked == 4 then Mode.k3
    elseif locked == 8 then Mode.b1 elseif locked == 16 then Mode.b2
    elseif locked == 32 then Mode.b3
    elseif locked == 5 then Mode.'k1+k3' elseif locked == 9 then Mode.'k1+b1'
    elseif locked == 33 then Mode.'k1+b3' elseif locked == 10 then Mode.'k2+b1'
    elseif locked == 18 then Mode.'k2+b2' elseif locked == 34 then Mode.'k2+b3'
    elseif locked == 24 then Mode.'b1+b2' elseif locked == 40 then Mode.'b1+b3'
    elseif locked == 48 then Mode.'b2+b3' else Mode.other;
  annotation(experiment(StopTime = 7, Tolerance = 1e-6, Interval = 0.005), Documentation(info = "<html>
<p>The gearbox of Hamann and Mehrmann (Hybrid systems of differential-algebraic equations, section 6
and Appendix A): 30 angles, three planetary sets with planets, six massless shaft nodes, clutches k1-k3,
brakes b1-b3, free wheels f1, f2, engine and load. Clutches and brakes lock on position level, so every
set of locked elements is a mode with equations of its own. The default run shifts 1-2-3-2 on [0, 7] s and
goes through the modes M1 M12 M2 M23 M3 M32 M2.</p>
</html>"));
end NAG;
