// 6: declarations stand before 'equation'
model M
  Real x;
equation
  der(x) = -y;
  Real y = 2;
end M;
