// 6: is clocked, but line 6 makes the same variables continuous
model M
  Real x(start = 0), y(start = 0);
equation
  der(y) = x;
  x = previous(x) + sample(y, Clock(0.1));
end M;
