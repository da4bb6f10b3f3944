// 8: 'x.start' is given a value twice
model A
  Real x(start = 1);
equation
  der(x) = 1;
end A;
model M
  A a(x(start = 3), x(start = 4));
end M;
