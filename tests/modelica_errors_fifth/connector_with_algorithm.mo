// 6: connector 'C' may not contain an algorithm
connector C
  Real e;
  flow Real f;
algorithm
  e := 1;
end C;
model M
  C c;
end M;
