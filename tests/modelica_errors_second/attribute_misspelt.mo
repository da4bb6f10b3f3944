// 3: 'strat'.*'start'
model A
  Real x(strat = 1, fixed = true);
equation
  der(x) = -x;
end A;
