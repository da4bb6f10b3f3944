// simulate -> 1: error_during_run.mo:12:[0-9]+: error: .*t = 0.5.*late
model M
  function error
    input String text;
  algorithm
    assert(false, text, AssertionLevel.error);
  end error;
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  when x > 0.5 then
    error("late");
  end when;
end M;
