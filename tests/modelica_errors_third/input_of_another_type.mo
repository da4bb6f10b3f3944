// 9: the input 'a' of f\(\) is Boolean but is given Real
function f
  input Boolean a;
  output Real b;
algorithm
  b := if a then 1 else 0;
end f;
model A
  Real x = f(3.5);
end A;
