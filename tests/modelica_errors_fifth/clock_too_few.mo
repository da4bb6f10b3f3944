// 7: no equation gives the clocked variable|one clocked equation too many
model M
  Integer n(start = 0);
  Real y;
equation
  when Clock(0.1) then n = previous(n) + 1; end when;
  n = sample(integer(time));
  y = time;
end M;
