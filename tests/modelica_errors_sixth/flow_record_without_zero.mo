// 8: its type 'R' has no operator '0'
operator record R
  Real x;
  encapsulated operator function '+' import R; input R a; input R b; output R c; algorithm c.x := a.x + b.x; end '+';
  encapsulated operator function '-' import R; input R a; output R c; algorithm c.x := -a.x; end '-';
end R;
connector C
  flow R f; Real e;
end C;
model M
  C c;
equation
  c.e = 1;
end M;
