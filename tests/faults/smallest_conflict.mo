// simulate -> 1: the fixed start value of 'b', the initial equation c - b = 1 contradict each other or the equations
model smallest_conflict "Fixed values of a, d and f have nothing to do with it."
  Real a(start = 1, fixed = true);
  Real b(start = 2, fixed = true);
  Real c(start = 7);
  Real d(start = 1, fixed = true);
  Real f(start = 3, fixed = true);
initial equation
  c - b = 1;
equation
  der(a) = -a;
  der(b) = -b;
  c = 2*b;
  der(d) = 1;
  f = 2*d + a;
end smallest_conflict;
