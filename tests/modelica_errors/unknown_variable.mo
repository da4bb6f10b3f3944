// 5: 'hieght'.*did you mean 'height'
model M
  Real height(start = 1, fixed = true);
equation
  der(height) = -hieght;
end M;
