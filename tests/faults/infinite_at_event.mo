// simulate -> 1: error: infinite_at_event: 'q' at .*infinite_at_event.mo:[0-9:]+ is infinite at t = 0.3
model infinite_at_event "Only an event divides by zero."
  Real x(start = 1, fixed = true);
  discrete Real q(start = 0, fixed = true);
  Integer k(start = 3, fixed = true);
equation
  der(x) = -x;
  when sample(0.1, 0.1) then
    k = pre(k) - 1;
    q = 1/k;
  end when;
end infinite_at_event;
