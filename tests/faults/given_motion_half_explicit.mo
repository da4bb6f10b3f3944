// simulate --method half-explicit --json - -> 0: "y": 0.540302305868
model given_motion_half_explicit "Nothing is integrated."
  Real x;
  Real y;
equation
  x = sin(time);
  y = der(x);
end given_motion_half_explicit;
