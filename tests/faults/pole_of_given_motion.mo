// simulate --stop-time 3 --method derivative-array -> 1: t = 1.[23]
model pole_of_given_motion "Nothing is integrated, and the solution has a pole."
  Real x;
  Real y;
equation
  x = 1/(1.3 - time);
  y = der(x);
end pole_of_given_motion;
