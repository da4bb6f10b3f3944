// 14: incompatible: 'p' has no 'phi'
model M
  connector Pin
    Real v;
    flow Real i;
  end Pin;
  connector Flange
    Real phi;
    flow Real tau;
  end Flange;
  Pin p;
  Flange f;
equation
  connect(p, f);
end M;
