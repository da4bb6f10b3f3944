// 3: 'x' is found in 'M' around the class
model M
  Real x = time;
  model A
    Real y = x;
  end A;
  A a;
end M;
