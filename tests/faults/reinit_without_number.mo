// simulate -> 1: reinit of 'x' at .*reinit_without_number.mo:7:[0-9]+ gives no number at t = 0.5
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = -1;
  when x < 0.5 then
    reinit(x, sqrt(-1 - x));
  end when;
end M;
