// 5: no unknown is left .*der\(x\) = -x
model M
  Real x;
equation
  der(x) = -x;
  x = 1;
end M;
