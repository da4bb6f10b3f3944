// simulate --stop-time 2 -> 1: assertion_in_function.mo:10.*t = (0.99|1)
model M
  function f
    input Real x;
    output Real y;
  algorithm
    assert(x <= 1, "x must not exceed 1");
    y := x;
  end f;
  Real x = time, y = if time > 1e9 then f(5*time) else f(x);
end M;
