model M
  function f
    input f x;
    output f y;
  algorithm
    y := f(x + 1);
  end f;
  Real x = f(time);
end M;
