// 8: class 'B' cannot be redeclared: it is final
model A
  final replaceable model B
    Real x = 1;
  end B;
end A;
model M
  extends A; redeclare model B Real x = 2; end B;
  B b;
end M;
