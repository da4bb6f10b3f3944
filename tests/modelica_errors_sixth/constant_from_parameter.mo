// 4: constant 'c' depends on the parameter 'p'
model M
  parameter Real p = 2;
  constant Real c = 2*p;
end M;
