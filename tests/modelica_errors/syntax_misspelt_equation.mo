// 4: did you mean 'equation'
model M
  Real x;
equaton
  der(x) = -x;
end M;
