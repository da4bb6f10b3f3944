// simulate --method bdf -> 0: reached the stop time
model M
  Integer n(start = 0, fixed = true);
equation
  when sample(0, 0.25) then
    n = pre(n) + 1;
  end when;
end M;
