// 8: 'break' leaves a 'for' or 'while', and there is none
function f
  input Real a;
  output Real y;
algorithm
  y := a;
  if a > 1 then
    break;
  end if;
end f;
model M
  Real x = f(2);
end M;
