// 7: 'M.Base' is a partial model
model M
  partial model Base
    Real x;
  end Base;
  model Row
    Base part[2];
  equation
    part.x = {1, 2};
  end Row;
  Row row;
end M;
