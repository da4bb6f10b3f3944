// 4: 'g' is a class, not a function
function f input Real x; output Real y; algorithm y := x; end f;
class g = f;
model M Real x = g(2); end M;
