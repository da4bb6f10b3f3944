// simulate -> 1: t = 0 .*loop_without_solution.mo:5:3 cannot be satisfied
model M
  Real x(start = 0), y(start = 0);
equation
  x = exp(y) + time;
  y = x;
end M;
