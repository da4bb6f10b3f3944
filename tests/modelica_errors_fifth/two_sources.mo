// 9: two sources of one signal are connected
connector RO = output Real;
model S
  RO y = time;
end S;
model M
  S a, b;
equation
  connect(a.y, b.y);
end M;
