// simulate --stop-time 2 -> 1: at t = 1 .*just after, these equations contradict each other: equation 'U = .*agreement_for_an_instant.mo:6:3.*agreement_for_an_instant.mo:7:3
model M
  Real i, U, x(start = 0, fixed = true);
  Boolean closed = time >= 1;
equation
  U = sin(3.14159265358979323846*time);
  U = if closed then 0 else 5*i;
  der(x) = i;
end M;
