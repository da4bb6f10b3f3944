// simulate -> 1: assertion_at_event.mo:7:5: error: assertion does not hold at t = 0.5 .*three are too many
model M
  Integer n(start = 0, fixed = true);
equation
  when sample(0, 0.25) then
    n = pre(n) + 1;
    assert(n < 3, "three are too many");
  end when;
end M;
