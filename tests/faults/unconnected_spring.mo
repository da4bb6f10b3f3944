// simulate -> 2: unconnected_spring.mo:[0-9:]+ error: M: nothing determines 's.a.phi', 's.b.phi'
model M
  connector F Real phi; flow Real tau; end F;
  model Spring F a, b; Real tau; equation a.tau = -tau; b.tau = tau; tau = b.phi - a.phi; end Spring;
  Spring s "not connected";
  Real x(start = 1, fixed = true);
equation
  der(x) = -x;
end M;
