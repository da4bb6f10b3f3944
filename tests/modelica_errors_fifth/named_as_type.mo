// 4: component 'T' has the name of its own type
type T = Real;
model M
  T T = 1;
end M;
