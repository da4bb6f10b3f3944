within Saltus;
package FourSpeed "Automatic gearbox with four gears, after Otter, Schlegel and Elmqvist"
  import Saltus.Drivetrain.*;

  model Gearbox "Planetary set and Ravigneaux set with six switching elements"
    parameter Real z = 1.8 "Planetary set: teeth of the ring over teeth of the sun";
    parameter Real r_small = 2.8 "Ravigneaux set: teeth of the ring over teeth of the small sun";
    parameter Real r_large = 3 "Ravigneaux set: teeth of the ring over teeth of the large sun";
    parameter Real c[6](each unit = "N.m") = {900, 600, 400, 400, 900, 600} "Capacities at pressure 1";
    Interfaces.Flange_a input_shaft "Turbine of the torque converter";
    Interfaces.Flange_b output_shaft;
    Interfaces.RealInput u[6] "Relative pressures of C1 to C6";
    IdealPlanetary front(ratio = z) "Carrier driven, ring to the middle shaft";
    Ravigneaux rear(ratio_small = r_small, ratio_large = r_large) "Ring drives the output";
    Clutch C1(c_f = c[1]) "Middle shaft to small sun";
    Clutch C2(c_f = c[2]) "Middle shaft to large sun";
    OneWayClutch C3(c_f = c[3]) "Sun of the front set to its carrier";
    Brake C4(c_f = c[4]) "Sun of the front set";
    OneWayClutch C5(c_f = c[5]) "Carrier of the rear set to the housing";
    Brake C6(c_f = c[6]) "Large sun";
    Inertia turbine(J = 0.05) "Turbine and carrier of the front set";
    Inertia sun(J = 0.005);
    Inertia middle(J = 0.02);
    Inertia small(J = 0.006);
    Inertia large(J = 0.006);
    Inertia carrier(J = 0.02);
    Inertia ring(J = 0.05);
    Fixed housing;
  equation
    C1.pressure = u[1];
    C2.pressure = u[2];
    C3.pressure = u[3];
    C4.pressure = u[4];
    C5.pressure = u[5];
    C6.pressure = u[6];
    connect(input_shaft, turbine.flange_a);
    connect(turbine.flange_b, front.carrier);
    connect(front.sun, sun.flange_a);
    connect(sun.flange_b, C4.flange_a);
    connect(C4.flange_b, C3.flange_a);
    connect(C3.flange_b, turbine.flange_b);
    connect(front.ring, middle.flange_a);
    connect(middle.flange_b, C1.flange_a);
    connect(middle.flange_b, C2.flange_a);
    connect(C1.flange_b, small.flange_a);
    connect(small.flange_b, rear.sun_small);
    connect(C2.flange_b, large.flange_a);
    connect(large.flange_b, C6.flange_a);
    connect(C6.flange_b, rear.sun_large);
    connect(rear.carrier, carrier.flange_a);
    connect(housing.flange, C5.flange_a);
    connect(C5.flange_b, carrier.flange_b);
    connect(rear.ring, ring.flange_a);
    connect(ring.flange_b, output_shaft);
    annotation(Documentation(info = "<html>
<p>Otter, Schlegel and Elmqvist name the parts and say what C3 does in each gear: its free wheel is
locked in the first gear and free in the second, its clutch is engaged in the third and fourth. The rest
of the topology and all numbers are chosen here.</p>
<pre>
(1 + z) w_turbine = w_sun + z w_middle
w_small = (1 - r_small) w_carrier + r_small w_ring
w_large = (1 + r_large) w_carrier - r_large w_ring

gear  C1  C2  C3    C4  C5    C6   w_turbine/w_ring
1     x       free      free       r_small
                wheel     wheel
2     x             x   free       r_small z/(1 + z)
                          wheel
3     x       x               x    r_small - (r_small - 1) r_large/(1 + r_large)
4     x   x   x                    1
</pre>
</html>"));
  end Gearbox;

  partial model Vehicle "Engine, torque converter, gearbox and car"
    Engine engine(J = 0.25, w(start = 100, fixed = true), flange(phi(fixed = true)));
    TorqueConverter converter;
    Gearbox gearbox(turbine(w(start = 0, fixed = true), phi(fixed = true)),
      middle(w(start = 0, fixed = true), phi(fixed = true)), C1(startLocked = true),
      carrier(w(start = 0, fixed = true), phi(fixed = true)));
    IdealGear axle(ratio = 3.5) "Final drive";
    Wheel wheel(radius = 0.3);
    Drivetrain.Vehicle car(m = 1500, s(fixed = true), v(start = 0, fixed = true));
  equation
    connect(engine.flange, converter.pump);
    connect(converter.turbine, gearbox.input_shaft);
    connect(gearbox.output_shaft, axle.flange_a);
    connect(axle.flange_b, wheel.hub);
    connect(wheel.road, car.road);
  end Vehicle;

  model FullLoad "From rest through all gears at full load"
    extends Vehicle;
    ShiftSchedule control(
      pattern = [1, 0, 0, 0, 0, 0; 1, 0, 0, 1, 0, 0; 1, 0, 1, 0, 0, 1; 1, 1, 1, 0, 0, 0],
      gears = {1, 2, 3, 4}, times = {5, 9, 14}, loading = 0.3, opening = 0.1);
  equation
    engine.throttle = 1;
    connect(control.y, gearbox.u);
    annotation(experiment(StopTime = 20, Tolerance = 1e-6));
  end FullLoad;

  model HardwareInTheLoop "The same with pressures and throttle from a control unit"
    extends Vehicle;
    input Real throttle(start = 1) "0: closed, 1: full";
    input Real u[6](start = {1, 0, 0, 0, 0, 0}) "Relative pressures of C1 to C6";
  equation
    engine.throttle = throttle;
    gearbox.u = u;
    annotation(experiment(StopTime = 20, Tolerance = 1e-6));
  end HardwareInTheLoop;
end FourSpeed;
