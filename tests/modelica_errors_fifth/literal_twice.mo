// 2: 'a' is twice a literal
type E = enumeration(a, b, a);
model M
  E e = E.a;
end M;
