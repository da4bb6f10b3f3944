// 5: nothing says when this ticks
model M
  Integer n(start = 0);
equation
  n = previous(n) + 1;
end M;
