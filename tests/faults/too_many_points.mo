// simulate --stop-time 1e6 --interval 1e-3 -> 2: would store more than 1e\+08 points
model M
  Real x = time;
end M;
