// 3: 'Bse'.*
model M
  extends Bse;
  Real x = 1;
end M;
