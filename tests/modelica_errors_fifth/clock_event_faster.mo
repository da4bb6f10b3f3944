// 7: a clock that ticks at events cannot be made faster
model M
  Integer n(start = 0), k(start = 0);
  Clock c;
equation
  c =
    Clock(time > 0.5);
  when c then n = previous(n) + 1; end when;
  k = superSample(n, 2);
end M;
