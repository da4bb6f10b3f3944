// simulate --stop-time 5 -> 0: counter_above_max.mo:3:[0-9]+: warning: 'n' is 4 at t = 3, above its max 3
model M
  Integer n(start = 0, fixed = true, max = 3);
equation
  when sample(0, 1) then
    n = pre(n) + 1;
  end when;
end M;
