// 9: expected 'end when'|'end when'
model A
  Real x(start = 0, fixed = true);
  discrete Real y(start = 0, fixed = true);
equation
  der(x) = 1;
  when x > 0.5 then
    y = pre(y) + 1;
end A;
