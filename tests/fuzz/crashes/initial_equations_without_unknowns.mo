model M
  Real x;
initial equation
  x = 1;
  x = 2;
equation
  x = -x;
end M;
