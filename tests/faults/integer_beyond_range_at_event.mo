// simulate -> 1: 'n' at .*integer_beyond_range_at_event.mo:3:11 is beyond 2.53 at t = 0.15
model M
  Integer n(start = 1, fixed = true);
equation
  when sample(0, 0.01) then
    n = 10*pre(n);
  end when;
end M;
