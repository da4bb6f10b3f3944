// 3: there is no 'Bse'
model M
  extends Bse;
  Real x = 1;
end M;
