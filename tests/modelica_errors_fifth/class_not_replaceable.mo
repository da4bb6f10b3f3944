// 8: class 'B' cannot be redeclared: it is not replaceable
model A
  model B
    Real x = 1;
  end B;
end A;
model M
  extends A; model extends B Real y = 2; end B;
  B b;
end M;
