// 5: 'g' is differentiated by 'k', which is no Real input that is given
function f input Real u; input Integer k; output Real v; algorithm v := u*k; end f;
function g = der(f, k);
model M
  Real x = g(time, 2);
end M;
