// simulate --stop-time 2 -> 0: enough
model M
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  when x > 1 then
    terminate("enough");
  end when;
end M;
