// 5 or 9: 't1.q'
model A
  model Tank "The outflow is missing"
    Real h(start = 1, fixed = true);
    Real q;
  equation
    der(h) = -q;
  end Tank;
  Tank t1;
  Real level = t1.h;
end A;
