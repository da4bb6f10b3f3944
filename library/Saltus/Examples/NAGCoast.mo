within Saltus.Examples;
model NAGCoast "First gear held by its free wheel alone: drive, coast, drive"
  extends NAG(gears = {1}, shifts = fill(0, 0), freeWheels = true, released = {0, 0, 0, 1, 0, 0},
    M_M_times = {0, 1.5, 3}, M_M_levels = {180, -30, 180}, M_M_durations = {0.5, 0.3, 0.3});
  annotation(experiment(StopTime = 5, Tolerance = 1e-6, Interval = 0.005), Documentation(info = "<html>
<p>b1 gets no pressure: f1 holds the sun of P1 while the engine drives and lets it turn while the vehicle
does.</p>
</html>"));
end NAGCoast;
