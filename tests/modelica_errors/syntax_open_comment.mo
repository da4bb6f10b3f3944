// 4: this comment is not closed
model M
  Real x;
  /* the equations
equation
  der(x) = -x;
end M;
