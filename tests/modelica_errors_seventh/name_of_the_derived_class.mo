// 3: there is no 'y' in 'Base'
model Base
  Real x = y;
end Base;
model M
  Real y = 2;
  extends Base;
end M;
