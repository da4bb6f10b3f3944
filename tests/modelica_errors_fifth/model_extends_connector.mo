// 7: a model cannot extend a connector
connector C
  Real e;
  flow Real f;
end C;
model M
  extends C;
end M;
