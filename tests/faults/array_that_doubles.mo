// check -> 2: array_that_doubles.mo:8:29: error: an array of .* elements: too many
model M
  function f
    output Real y;
  protected
    Real a[:] = {1.0};
  algorithm
    for i in 1:60 loop a := cat(1, a, a); end for;
    y := sum(a);
  end f;
  parameter Real s = f();
end M;
