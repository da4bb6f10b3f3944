// 9: 'n' changes at events only
function f
  input Real u;
  output Integer n;
algorithm
  n := integer(u);
end f;
model M
  Integer n = f(time);
end M;
