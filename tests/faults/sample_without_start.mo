// simulate -> 2: sample_without_start.mo:5:8: error: the start of sample.. is not a finite number
model M
  Integer n(start = 0, fixed = true);
equation
  when sample(0/0, 1) then
    n = pre(n) + 1;
  end when;
end M;
