// simulate -> 1: t = 0.5 .*'(x|y)' changes fastest, see equation .*lost_determinant.mo:[56]:3
model M
  Real x(start = 1), y(start = 1);
equation
  x + y = 2;
  x + (2 - 2*time)*y = 3;
end M;
