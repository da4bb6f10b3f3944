// 2: 'M' is partial and cannot be simulated
partial model M
  Real x = time;
end M;
