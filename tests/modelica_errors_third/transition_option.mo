// 10: transition\(\) has no 'prio'
model S
  Real x(start = 0);
equation
  der(x) = 1;
end S;
model A
  S a, b;
equation
  initialState(a); transition(a, b, a.x > 1, prio = 2);
end A;
