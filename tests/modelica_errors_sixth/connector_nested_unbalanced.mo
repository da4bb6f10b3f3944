// 2: has 0 flow variables and 1 that
connector D
  record R
    Real x;
  end R;
  R r;
end D;
model M
  D d;
equation
  d.r.x = 1;
end M;
