// 10 or 11: 'n'.*more than one|'n'.*when
model A
  Real x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  when x > 0.2 then
    n = pre(n) + 1;
  end when;
  when x > 0.4 then
    n = pre(n) + 2;
  end when;
end A;
