// 2: assertion violated: too small: 0.5
function e input String s; algorithm assert(false, s); end e;
function f input Real x; output Real v; algorithm
  if x < 2 then e("too small: " + String(x)); end if;
  v := 1; while v < x loop v := 2*v; end while; end f;
model M
  parameter Real y = f(0.5);
end M;
