// 3: 'b' is Boolean but its value is Real
model M
  Boolean b = 2.5;
end M;
