// 4: f\(\) does not give its output 'c' a value
function f
  input Real a;
  output Real c;
protected
  Real d;
algorithm
  d := a;
end f;
model A
  Real x = f(time);
end A;
