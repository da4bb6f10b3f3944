// 8: has no
expandable connector B
end B;
model M
  B a;
  B b;
equation
  connect(a.x, b.y);
end M;
