within ;
encapsulated package P "every construct of the language, for the fuzzer to start from"
  import A.B.C;
  import D = A.B;
  import A.*;
  import A.{x, y};
  type Angle = Real(unit = "rad", displayUnit = "deg") "angle";
  type E = enumeration(one "1", two);
  type Open = enumeration(:);
  function df = der(f, x, y);
  connector In = input Real[2];
  connector Flange
    Angle phi;
    flow Real tau;
    stream Real h;
  end Flange;
  replaceable partial model Base = Other(n = 1) constrainedby Other(final n = 2) "c";
  model extends Inherited(k = 2) "more"
    Real x;
  end Inherited;
  operator record C
    Real re "real";
    encapsulated operator function '+' = add;
  end C;
  impure function g
    input Real x[:, 2] = [1, 2; 3, 4];
    output Real y;
  protected
    Integer i;
    external "C" y = c_g(x, size(x, 1)) annotation(Library = "m", Include = "#include \"m.h\"");
  end g;
  model M
    extends Base(redeclare replaceable model N = K(n = 1) constrainedby L, redeclare Res r(R = 1),
      a.b = 2, each final q(start = {1, 2}) = 3);
    parameter Real a = -2.5e-3*b^2, b[2](each start = 1, final unit = "m") = {1, .5};
    constant Boolean use = not (a > 1 and b[1] <= 2 or c <> 3);
    inner replaceable Res r if use constrainedby Res(x = 1);
    outer World world;
    discrete output Integer i(start = 0, fixed = true);
    .A.B.C d[3] = {C(re = k) for k in 1:3};
    Real s = sum(x[j]*y[j] for j in 1:size(x, 1), k) + f(function g(a = 1), n = 2);
  initial equation
    x = 0;
  equation
    der(x) = if x > 0 then -x elseif initial() then 1 else x[end, :] .* y ./ 2 "decay";
    (u, , v) = f(x);
    connect(p.n[1], q.p) annotation(Line(points = {{0, 0}, {1, 1}}, color = {0, 0, 255}));
    if c then
      x = 1;
    elseif d then
      x = 2;
    else
      x = 1:2:10;
    end if;
    for i in 1:3, j loop
      y[i, j] = 'quoted name'.z;
    end for;
    when {sample(0, 1), edge(b)} then
      reinit(x, pre(x));
    elsewhen z then
      assert(b, "no" + String(x), AssertionLevel.warning);
    end when;
    transition(s1, s2, x > 1, priority = 2);
  algorithm
    x := 1;
    (a, , y[2]) := g(x);
    g(x);
    while x < 3 loop
      x := x + 1;
      if x > 0 then
        return;
      else
        break;
      end if;
    end while;
    annotation(experiment(StopTime = 1.0, Tolerance = 1e-6), Documentation(info = "<html>
<p>Lines</p>
</html>"));
  end M;
  final constant Real k = 1;
end P;
