// 4: 't' of function 'f' is public but neither input nor output
function f
  input Real x;
  Real t;
  output Real y;
algorithm
  t := x;
  y := t;
end f;
model M
  Real z = f(time);
end M;
