// 6: reinit\(\) of 'x', which no equation differentiates
model A
  Real x = sin(time);
equation
  when time > 0.5 then
    reinit(x, 1);
  end when;
end A;
