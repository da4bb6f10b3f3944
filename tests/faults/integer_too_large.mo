// simulate -> 1: 'n' at .*integer_too_large.mo:3:11 is beyond 2.53 at t = 0.16
model M
  Integer n(start = 1, fixed = true);
equation
  when sample(0.01, 0.01) then
    n = pre(n)*10;
  end when;
end M;
