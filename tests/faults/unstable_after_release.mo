// simulate --stop-time 100 -> 0: warning: the solution is unstable: .*'(angle|w)' shows it most
model M "upright on a cart that goes on, let go after a second"
  Real position(start = 0, fixed = true);
  Real angle(start = 0, fixed = true), w(start = 0, fixed = true);
equation
  der(position) = 1;
  der(angle) = w;
  der(w) = if time < 1 then -10*w else 9.81*sin(angle);
end M;
