// 6: function 'f' may not contain equations
function f
  input Real x;
  output Real y;
equation
  y = x;
end f;
model M
  Real z = f(time);
end M;
