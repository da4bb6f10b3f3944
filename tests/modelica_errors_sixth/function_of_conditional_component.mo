// 6: 'a' has a condition and can only be connected
model A
  function f input Real x; output Real y; algorithm y := x; end f;
end A;
model M
  A a if true; Real x = a.f(2);
end M;
