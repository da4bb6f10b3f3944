// simulate -> 2: p negative
model M
  function error
    input String text;
  algorithm
    assert(false, text, AssertionLevel.error);
  end error;
  parameter Real p = -1;
  Real x = time;
initial algorithm
  if p < 0 then
    error("p negative");
  end if;
end M;
