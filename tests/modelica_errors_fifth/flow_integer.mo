// 3: 'f' is a flow variable but Integer|'c.f' is a flow variable but Integer
connector C
  flow Integer f; Integer e;
end C;
model M
  C c;
end M;
