// 5: the argument of String\(\) depends on variables
model M
  String s;
equation
  s = "x is " + String(time);
end M;
