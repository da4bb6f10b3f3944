// simulate -> 0: reached the stop time
model M
  function error
    input String text;
    external "C" ModelicaError(text);
  end error;
  function root
    input Real x;
    output Real y;
  algorithm
    if x < 0 then
      error("negative");
    end if;
    y := x;
  end root;
  Real y = root(time);
end M;
