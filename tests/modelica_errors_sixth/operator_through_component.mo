// 8: an operator cannot be looked up in a component
operator record R
  Real x;
  encapsulated operator function '+' import R; input R a; input R b; output R c; algorithm c.x := a.x + b.x; end '+';
end R;
model M
  R a(x = 1);
  R b = a.'+'(a, a);
end M;
