// simulate -> 2: no format of String
model M
  parameter String s = String(1.5, format = ".20000000f");
  Real x = time;
end M;
