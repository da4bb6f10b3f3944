model M
  function error
    input Real x;
    output Real y;
    external "C" ModelicaError(x);
  end error;
  Real x = error(time);
end M;
