// What the flattener knows, small; the last class is the model.
type Angle = Real(unit = "rad");
type E = enumeration(one, two);
connector Flange
  Angle phi;
  flow Real tau(unit = "N.m");
end Flange;
record R
  Real a = 1;
  Real b[2] = {2, 3};
end R;
function f
  input Real x;
  input Integer n = 3;
  output Real y = 1;
  output Real z[n];
protected
  Real s;
algorithm
  s := x;
  for i in 1:n loop
    y := y*s;
    z[i] := if x > 0 then y else -y;
  end for;
  while y > 10 loop
    y := y/2;
    if y < 1 then
      break;
    end if;
  end while;
end f;
function g
  input Real x;
  input Real k = 2;
  output Real y;
algorithm
  y := k*x^2;
  annotation(derivative(zeroDerivative = k) = g_der);
end g;
function g_der
  input Real x;
  input Real k;
  input Real x_der;
  output Real y;
algorithm
  y := 2*k*x*x_der;
end g_der;
partial model Two
  Flange a, b;
  parameter Integer n(min = 1) = 2 annotation(Evaluate = true);
end Two;
model Spring
  extends Two(n = 3);
  parameter Real c[n] = fill(1.5, n);
equation
  a.tau = sum(c)*(a.phi - b.phi);
  a.tau + b.tau = 0;
end Spring;
model Inertia
  Flange a;
  parameter Real J = 1;
  Real w(start = 1, fixed = true);
equation
  a.phi = phi;
  w = der(phi);
  J*der(w) = a.tau;
protected
  Angle phi(start = 0, fixed = true);
end Inertia;
model S1
  Real x(start = 1);
equation
  der(x) = -x;
end S1;
model S2
  extends S1;
  Real y = x + timeInState();
end S2;
model M
  parameter Boolean use = true;
  replaceable Spring spring(c(each min = 0)) constrainedby Two;
  Inertia left(J = 2), right[2](each J = 3, w(start = {1, 2}));
  Inertia extra if use;
  R r(a = time);
  Real slope = der(g(time, 3)), level = g(left.w, if use then 1 else 2);
  parameter String label = String(1.5, format = "6.2f") + String(e2, minimumLength = 3);
  parameter E e2 = E.two;
  Real u, v[3], m[2, 2] = [1, time; 2, 3], q = f(time, 2);
  Integer k(start = 0, fixed = true);
  Boolean on(start = false) = u > 0.5 and not initial();
  E e;
  S1 s1;
  S2 s2;
  parameter String text = "n = " + String(2) annotation(__Saltus(modeName = false));
  discrete Real held(start = 0, fixed = true);
  inner parameter Real world = 2;
initial equation
  u = 0;
equation
  connect(left.a, spring.a);
  for i in 1:2 loop
    connect(spring.b, right[i].a);
  end for;
  if use then
    connect(extra.a, spring.b);
  end if;
  der(u) = 1 - smooth(0, noEvent(if u > 2 then u else 0));
  v = {sin(u), cross({1, 0, 0}, {0, 1, u})*{0, 0, 1}, max({u, 1, 2})};
  when {u > 0.5, sample(0, 0.1)} then
    k = pre(k) + 1;
    held = pre(u);
    reinit(left.w, -left.w);
  elsewhen edge(on) then
    k = 0;
  end when;
  e = if on then E.one else E.two;
  initialState(s1);
  transition(s1, s2, s1.x < 0.5, priority = 1);
  transition(s2, s1, timeInState() > 1 and activeState(s2));
  assert(u < 100, "u is " + String(u));
algorithm
  when on then
    terminate("done");
  end when;
  annotation(experiment(StopTime = 2, Tolerance = 1e-6));
end M;
