// 6: 'a' is an input of the function and cannot be assigned
function f
  input Real a;
  output Real b;
algorithm
  a := 2;
  b := a;
end f;
model A
  Real x = f(time);
end A;
