// 12: \[2\].*\[3\]|2 .*3
model A
  connector Pin
    Real v;
    flow Real i;
  end Pin;
  model Bus
    parameter Integer n;
    Pin p[n];
  end Bus;
  Bus a(n = 2), b(n = 3);
equation connect(a.p, b.p);
  for k in 1:2 loop
    a.p[k].v = k;
  end for;
end A;
