// 5: expected ',' or '\)' to close '\('
model M
  Real x;
equation
  der(x) = -sin(2*(x + 1);
end M;
