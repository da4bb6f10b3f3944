// 4: '&&' is not Modelica: use 'and'
model M
  Real x = time;
  Boolean b = x > 1 && x < 2;
end M;
