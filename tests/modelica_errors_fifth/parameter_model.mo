// 6: 'a' is parameter, but its type 'A' is a model
model A
  Real x = time;
end A;
model M
  parameter A a;
end M;
