// 4: 'x' is declared twice in model 'M': first in line 3
model M
  Real x = 1;
  Real x = 2;
end M;
