// 15: 'plus'|no 'plus'
model A
  connector Pin
    Real v;
    flow Real i;
  end Pin;
  model Resistor
    Pin p, n;
  equation
    p.v - n.v = 2*p.i;
    p.i + n.i = 0;
  end Resistor;
  Resistor r1, r2;
equation
  connect(r1.n, r2.plus);
  r1.p.v = 1;
  r2.n.v = 0;
end A;
