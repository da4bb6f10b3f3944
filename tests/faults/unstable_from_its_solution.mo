// simulate --stop-time 2 -> 0|1: unstable.* tenfold every 0.0023 s.*'x'|'x' changes fastest
model M "starts on the one solution that stays: exact arithmetic would keep to it"
  constant Real k = 1000;
  Real x(start = k/(k^2 + 1), fixed = true);
equation
  der(x) = k*(x - sin(time));
end M;
