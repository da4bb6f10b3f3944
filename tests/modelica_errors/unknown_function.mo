// 5: 'sine'
model M
  Real x;
equation
  x = sine(time);
end M;
