// simulate -> 1: t = 0.5: 'y' at .*logarithm_at_event.mo:5:3 is not a number
model M
  discrete Real y(start = 0, fixed = true);
equation
  when time > 0.5 then
    y = log(0.25 - time);
  end when;
end M;
