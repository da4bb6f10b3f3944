// 4: put parentheses around it
model M
  Real y = 1;
  Real x = 2*-y;
end M;
