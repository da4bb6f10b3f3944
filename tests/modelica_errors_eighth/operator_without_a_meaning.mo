// 4: '%' is no operator that a record can define
operator record C
  Real r;
  encapsulated operator function '%'
    import C;
    input C a;
    output C b;
  algorithm
    b := a;
  end '%';
end C;
model M
  C c(r = 1);
  Real y = c.r;
end M;
