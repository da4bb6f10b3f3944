// simulate -> 1: t = 0.5.*'(x|y)' changes fastest, see equation .*escape_of_two.mo:[56]:3
model M
  Real x(start = 1, fixed = true), y(start = 1, fixed = true);
equation
  der(x) = x*y^2;
  der(y) = y*x^2;
end M;
