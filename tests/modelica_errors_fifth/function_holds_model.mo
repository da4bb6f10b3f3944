// 7: 'a' is a model, which a function cannot contain
function f
  model A
    Real x;
  end A;
  input Real x;
protected A a;
public output Real y;
algorithm
  y := x;
end f;
model M
  Real z = f(time);
end M;
