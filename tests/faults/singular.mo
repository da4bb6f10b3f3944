// simulate -> 2: no equation is left for '[ab]' \(or instead for '[ab]'\)
model M
  Real a, b, f, g;
equation
  a = 2*b;
  f = 0;
  g = 0;
  0 = f + 3*g;
end M;
