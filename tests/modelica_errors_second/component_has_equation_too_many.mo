// 8 or 9: t1|too many|one equation
model A
  model Tank "The outflow is given twice"
    Real h(start = 1, fixed = true);
    Real q;
  equation
    der(h) = -q;
    q = h;
    q = 2*h + time;
  end Tank;
  Tank t1;
  Real level = t1.h;
end A;
