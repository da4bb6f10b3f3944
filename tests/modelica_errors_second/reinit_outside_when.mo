// 6: reinit.*when
model A
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  reinit(x, 0);
end A;
