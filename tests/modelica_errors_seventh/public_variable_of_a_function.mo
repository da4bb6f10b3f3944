// 5: 'w' of function 'f' is public but neither input nor output
type Plain = Real;
function f
  input Real u;
  Plain w;
  output Real v;
algorithm
  w := u;
  v := w;
end f;
model M
  Real y = f(time);
end M;
