// 7: 'e.x' is an element of an expandable connector
expandable connector E
  Real x;
end E;
model M
  Real u = time;
  E e(x = 1);
end M;
