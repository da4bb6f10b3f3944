// simulate --stop-time 50 -> 0: warning: the solution is unstable: at t = [1-5][0-9].* shows it most
model M "exp(-time), and what rounding adds of exp(time)"
  Real x(start = 1, fixed = true), y(start = -1, fixed = true);
equation
  der(x) = y;
  der(y) = x;
end M;
