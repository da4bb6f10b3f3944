// 5: is of enumeration 'E' but its value of enumeration 'F'
model M
  type E = enumeration(a, b);
  type F = enumeration(a, b, c);
  parameter E e = F.a;
end M;
