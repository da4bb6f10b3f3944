within Saltus.Drivetrain;
package Examples "One small model for each class, with a solution that can be written down"
  model Oscillator "Inertia, SpringDamper, Fixed: damped oscillation"
    Fixed fixed;
    SpringDamper spring(c = 4, d = 0.4);
    Inertia inertia(J = 1, phi(start = 1, fixed = true), w(fixed = true));
  equation
    connect(fixed.flange, spring.flange_a);
    connect(spring.flange_b, inertia.flange_a);
    annotation(experiment(StopTime = 5, Tolerance = 1e-8));
  end Oscillator;

  model Node "ShaftNode: two springs in a row are one of half the stiffness"
    Fixed fixed;
    SpringDamper left(c = 8);
    ShaftNode node(n = 2);
    SpringDamper right(c = 8);
    Inertia inertia(J = 1, phi(start = 1, fixed = true), w(fixed = true));
  equation
    connect(fixed.flange, left.flange_a);
    connect(left.flange_b, node.flange[1]);
    connect(node.flange[2], right.flange_a);
    connect(right.flange_b, inertia.flange_a);
    annotation(experiment(StopTime = 3, Tolerance = 1e-8));
  end Node;

  model Clearance "PiecewiseSpring with a clearance"
    Fixed fixed;
    PiecewiseSpring spring(phi = {-2, -1, 1, 2}, torque = {-9, 0, 0, 9});
    Inertia inertia(J = 1, phi(fixed = true), w(start = 2, fixed = true));
  equation
    connect(fixed.flange, spring.flange_a);
    connect(spring.flange_b, inertia.flange_a);
    annotation(experiment(StopTime = 2, Tolerance = 1e-8));
  end Clearance;

  model TwoSlopes "PiecewiseDamper: two exponentials"
    Fixed fixed;
    PiecewiseDamper damper(w = {-1, 0, 1, 2}, torque = {-1, 0, 1, 3});
    Inertia inertia(J = 1, phi(fixed = true), w(start = 3, fixed = true));
  equation
    connect(fixed.flange, damper.flange_a);
    connect(damper.flange_b, inertia.flange_a);
    annotation(experiment(StopTime = 2, Tolerance = 1e-8));
  end TwoSlopes;

  model Gear "IdealGear: constant acceleration"
    ConstantTorque torque(tau = 6);
    Inertia fast(J = 1, phi(fixed = true), w(fixed = true));
    IdealGear gear(ratio = 2);
    Inertia slow(J = 8);
  equation
    connect(torque.flange, fast.flange_a);
    connect(fast.flange_b, gear.flange_a);
    connect(gear.flange_b, slow.flange_a);
    annotation(experiment(StopTime = 1, Tolerance = 1e-8));
  end Gear;

  model PlanetaryWithoutInertia "IdealPlanetary with a fixed ring"
    ConstantTorque torque(tau = 10);
    Inertia input_shaft(J = 1, phi(fixed = true), w(fixed = true));
    IdealPlanetary gear(ratio = 2);
    Fixed fixed;
    Inertia output_shaft(J = 36);
  equation
    connect(torque.flange, input_shaft.flange_a);
    connect(input_shaft.flange_b, gear.sun);
    connect(gear.ring, fixed.flange);
    connect(gear.carrier, output_shaft.flange_a);
    annotation(experiment(StopTime = 1, Tolerance = 1e-8));
  end PlanetaryWithoutInertia;

  model PlanetaryWithInertia "Planetary with a fixed ring: index 3"
    ConstantTorque torque(tau = 10);
    Planetary gear(r_s = 1, r_r = 3, J_s = 1, J_c = 16, J_p = 4, sun(phi(start = 0, fixed = true)),
      w_s(fixed = true));
    Fixed fixed;
  equation
    connect(torque.flange, gear.sun);
    connect(gear.ring, fixed.flange);
    annotation(experiment(StopTime = 1, Tolerance = 1e-8));
  end PlanetaryWithInertia;

  model TwoSuns "Ravigneaux with a fixed carrier"
    ConstantTorque torque(tau = 14);
    Inertia small(J = 1, phi(fixed = true), w(fixed = true));
    Inertia large(J = 9);
    Ravigneaux gear(ratio_small = 3, ratio_large = 2);
    Fixed fixed;
    Inertia output_shaft(J = 18);
  equation
    connect(torque.flange, small.flange_a);
    connect(small.flange_b, gear.sun_small);
    connect(large.flange_b, gear.sun_large);
    connect(gear.carrier, fixed.flange);
    connect(gear.ring, output_shaft.flange_a);
    annotation(experiment(StopTime = 1, Tolerance = 1e-8));
  end TwoSuns;

  model Engagement "Clutch brings two inertias to a common speed and locks"
    Inertia left(J = 1, phi(fixed = true), w(fixed = true));
    Clutch clutch(c_f = 2);
    Inertia right(J = 2, phi(fixed = true), w(start = 6, fixed = true));
  equation
    clutch.pressure = 1;
    connect(left.flange_b, clutch.flange_a);
    connect(clutch.flange_b, right.flange_a);
    annotation(experiment(StopTime = 4, Tolerance = 1e-8));
  end Engagement;

  model BreakAway "Clutch slips where the static capacity is passed"
    Torque drive;
    Inertia left(J = 1, phi(fixed = true), w(fixed = true));
    Clutch clutch(c_f = 2, peak = 1.5, startLocked = true);
    Inertia right(J = 1);
  equation
    drive.tau = 4*time;
    clutch.pressure = 1;
    connect(drive.flange, right.flange_b);
    connect(left.flange_b, clutch.flange_a);
    connect(clutch.flange_b, right.flange_a);
    annotation(experiment(StopTime = 2, Tolerance = 1e-8));
  end BreakAway;

  model Braking "Brake stops an inertia and holds it"
    Inertia inertia(J = 2, phi(fixed = true), w(start = 3, fixed = true));
    Brake brake(c_f = 2);
    ConstantTorque torque(tau = 1);
  equation
    brake.pressure = 1;
    connect(inertia.flange_b, brake.flange_a);
    connect(torque.flange, brake.flange_b);
    annotation(experiment(StopTime = 8, Tolerance = 1e-8));
  end Braking;

  model Overrun "FreeWheel: locked while the driver pushes, free when it brakes"
    Torque drive;
    Inertia driver(J = 1, phi(fixed = true), w(fixed = true));
    FreeWheel wheel(startLocked = true);
    Inertia load(J = 2);
  equation
    drive.tau = if time < 1 then 3 else -1;
    connect(drive.flange, driver.flange_a);
    connect(driver.flange_b, wheel.flange_a);
    connect(wheel.flange_b, load.flange_a);
    annotation(experiment(StopTime = 2, Tolerance = 1e-8));
  end Overrun;

  model OverrunAgainstFriction "OneWayClutch: as Overrun, with friction"
    Torque drive;
    Inertia driver(J = 1, phi(fixed = true), w(fixed = true));
    OneWayClutch clutch(c_f = 0.5, startLocked = true);
    Inertia load(J = 2);
  equation
    clutch.pressure = 1;
    drive.tau = if time < 1 then 3 else -2;
    connect(drive.flange, driver.flange_a);
    connect(driver.flange_b, clutch.flange_a);
    connect(clutch.flange_b, load.flange_a);
    annotation(experiment(StopTime = 2, Tolerance = 1e-8));
  end OverrunAgainstFriction;

  model Rattle "Backlash: impacts at both ends"
    Backlash backlash(b = 1, e = 0.5, J_a = 1, J_b = 3, flange_a(phi(start = 0, fixed = true)),
      flange_b(phi(start = 0, fixed = true)), w_a(fixed = true), w_b(start = 1, fixed = true));
  equation
    backlash.flange_a.tau = 0;
    backlash.flange_b.tau = 0;
    annotation(experiment(StopTime = 3, Tolerance = 1e-8));
  end Rattle;

  model Reversal "Backlash: contact, release and the way to the other end"
    Torque drive;
    Backlash backlash(b = 1, e = 0, J_a = 1, J_b = 1, flange_a(phi(start = 0, fixed = true)),
      flange_b(phi(start = 0, fixed = true)), w_a(fixed = true), w_b(fixed = true));
  equation
    drive.tau = if time < 2 then 1 else -1;
    connect(drive.flange, backlash.flange_b);
    backlash.flange_a.tau = 0;
    annotation(experiment(StopTime = 3, Tolerance = 1e-8));
  end Reversal;

  model RunUp "Engine at full throttle on a linear piece of its map"
    Engine engine(J = 0.5, speed = {0, 100, 200}, full = {100, 50, 0}, drag = {0, 0, 0},
      w(fixed = true), flange(phi(start = 0, fixed = true)));
  equation
    engine.throttle = 1;
    engine.flange.tau = 0;
    annotation(experiment(StopTime = 1, Tolerance = 1e-8));
  end RunUp;

  model Stall "TorqueConverter with a blocked turbine"
    ConstantTorque torque(tau = 12);
    Inertia pump(J = 0.5, phi(fixed = true), w(fixed = true));
    TorqueConverter converter;
    Fixed fixed;
  equation
    connect(torque.flange, pump.flange_a);
    connect(pump.flange_b, converter.pump);
    connect(converter.turbine, fixed.flange);
    annotation(experiment(StopTime = 5, Tolerance = 1e-8));
  end Stall;

  model CoastDown "Vehicle and Wheel: drag alone"
    Vehicle vehicle(m = 1000, c_w = 0.5, A = 2, rho = 1.2, c_r = 0, s(fixed = true), v(start = 50, fixed = true));
    Wheel wheel(radius = 0.5);
    Inertia rim(J = 50);
  equation
    connect(vehicle.road, wheel.road);
    connect(wheel.hub, rim.flange_a);
    annotation(experiment(StopTime = 10, Tolerance = 1e-8));
  end CoastDown;

  model SpinningWheel "Tyre: a driven wheel slips and pushes the vehicle"
    ConstantTorque torque(tau = 600);
    Inertia rim(J = 2, phi(fixed = true), w(start = 50, fixed = true));
    Tyre tyre(radius = 0.3);
    Vehicle vehicle(c_w = 0, c_r = 0, m = 500, s(fixed = true), v(start = 15, fixed = true));
  equation
    connect(torque.flange, rim.flange_a);
    connect(rim.flange_b, tyre.hub);
    connect(tyre.road, vehicle.road);
    annotation(experiment(StopTime = 2, Tolerance = 1e-8));
  end SpinningWheel;

  model Ramp "PressureRamp: closing and opening"
    PressureRamp ramp(p_max = 2, t_close = 1, t_open = 2, loading = 0.5, opening = 0.25);
    Real x(start = 0, fixed = true) "Integral of the pressure";
  equation
    der(x) = ramp.y;
    annotation(experiment(StopTime = 3, Tolerance = 1e-8));
  end Ramp;

  model ThreeGears "ShiftSchedule: pressures of three elements over three gears"
    ShiftSchedule schedule(pattern = [1, 1, 0; 0, 1, 1; 1, 0, 1], gears = {1, 2, 3, 2}, times = {1, 2, 3},
      loading = 0.2, opening = 0.1);
    Real x[3](each start = 0, each fixed = true) "Integrals of the pressures";
  equation
    der(x) = schedule.y;
    annotation(experiment(StopTime = 4, Tolerance = 1e-8));
  end ThreeGears;

  model Discs "DiscClutch closed by a SmoothCourse: two discs become one body"
    Inertia left(J = 1, phi(fixed = true), w(fixed = true));
    DiscClutch clutch(clutch(c_f = 2), disc_a(phi(fixed = true), w(fixed = true)),
      disc_b(phi(fixed = true), w(start = 6, fixed = true)));
    Inertia right(J = 2, phi(fixed = true), w(start = 6, fixed = true));
    SmoothCourse course(times = {0.5}, levels = {1}, durations = {1});
    Real x(start = 0, fixed = true) "Integral of the pressure";
  equation
    der(x) = course.y;
    connect(course.y, clutch.pressure);
    connect(left.flange_b, clutch.flange_a);
    connect(clutch.flange_b, right.flange_a);
    annotation(experiment(StopTime = 5, Tolerance = 1e-8));
  end Discs;

  model DiscStops "DiscBrake stops an inertia and holds its disc"
    Inertia inertia(J = 2, phi(fixed = true), w(start = 3, fixed = true));
    DiscBrake brake(brake(c_f = 2), disc(phi(fixed = true), w(start = 3, fixed = true)));
    SmoothCourse course(times = {0}, levels = {1}, durations = {0.5});
  equation
    connect(course.y, brake.pressure);
    connect(inertia.flange_b, brake.flange);
    annotation(experiment(StopTime = 6, Tolerance = 1e-8));
  end DiscStops;
end Examples;
