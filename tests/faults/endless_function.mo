// simulate --stop-time 0.1 -> 2: endless_function.mo:[0-9:]+ error: function 'M.f' calls itself
model M
  function f
    input Real x;
    output Real y;
  algorithm
    y := f(x + 1);
  end f;
  Real x = f(time);
end M;
