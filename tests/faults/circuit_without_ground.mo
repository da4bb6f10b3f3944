// simulate -> 2: no equation is left for .*'r.p.v'
model M
  connector Pin Real v; flow Real i; end Pin;
  partial model Two Pin p, n; Real v; Real i; equation v = p.v - n.v; 0 = p.i + n.i; i = p.i; end Two;
  model R extends Two; equation v = 10*i; end R;
  model C extends Two(v(start = 1, fixed = true)); equation 0.01*der(v) = i; end C;
  R r; C c;
equation
  connect(r.p, c.p);
  connect(r.n, c.n);
end M;
