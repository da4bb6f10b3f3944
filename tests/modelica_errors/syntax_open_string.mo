// 3: closing " is missing
model M
  Real x "the height;
  Real v "the speed";
equation
  der(x) = v;
  der(v) = -9.81;
end M;
