// simulate --stop-time 2 -> 1: error_in_function.mo:16.*t = (0.99|1)
model M
  function error
    input String text;
    external "C" ModelicaError(text);
  end error;
  function root
    input Real x;
    output Real y;
  algorithm
    if x > 1 then
      error("too large");
    end if;
    y := x;
  end root;
  Real x(start = 0, fixed = true), y = root(x);
equation
  der(x) = 1 + 0*y;
end M;
