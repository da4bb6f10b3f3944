// simulate -> 1: t = 0.5 .*'x' changes fastest, see equation .*fold_of_solution.mo:5:3
model M
  Real x(start = 1);
equation
  x^2 = 0.5 - time;
end M;
