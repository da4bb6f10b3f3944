// 3: hold\(\) of time, which no clock ticks for; write sample\(time\)
model M
  Real y = hold(time);
end M;
