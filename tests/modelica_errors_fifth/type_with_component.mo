// 3: extends a predefined type and cannot have components
type T
  Real y; extends Real;
end T;
model M
  T t;
end M;
