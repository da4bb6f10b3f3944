// 5: the message is Integer, not a String
model M
  Real x = 1 + time;
equation
  assert(x > 0, 5);
end M;
