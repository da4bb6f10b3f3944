// 9: connect\(\) inside of 'when'
connector C
  Real e;
  flow Real f;
end C;
model M
  C a, b;
equation
  when time > 1 then connect(a, b); end when;
end M;
