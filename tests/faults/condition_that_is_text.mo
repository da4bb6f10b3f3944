// simulate -> 2: condition_that_is_text.mo:10:12: error: the condition after 'if' is not a Boolean
model M
  Real x(start = 1, fixed = true);
  Real y;
algorithm
  y := 0;
  when time > 0.5 then
    if x > 1 then
      y := 1;
    elseif "text" then
      y := 2;
    end if;
  end when;
equation
  der(x) = 1;
end M;
