// check -> 2: sample_without_end.mo:5:[0-9]+: error: sample\(\) needs a positive interval, not inf
model M
  Integer n(start = 0, fixed = true);
equation
  when sample(0, 1e308*10) then
    n = pre(n) + 1;
  end when;
end M;
