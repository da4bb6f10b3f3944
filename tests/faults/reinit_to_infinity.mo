// simulate -> 1: reinit of 'x' at .*reinit_to_infinity.mo:7:5 gives infinity at t = 0.5
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = -1;
  when x < 0.5 then
    reinit(x, 1/(x - x));
  end when;
end M;
