// 3: no equation gives 's' a value
model M
  String s;
  Boolean b = s == "a";
end M;
