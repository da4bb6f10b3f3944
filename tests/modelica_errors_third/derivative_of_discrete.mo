// 8: der\(\) of 'd', which is discrete
model A
  discrete Real d(start = 0, fixed = true);
equation
  when time > 1 then
    d = 1;
  end when;
  der(d) = 0;
end A;
