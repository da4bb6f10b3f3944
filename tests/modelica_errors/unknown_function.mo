// 5: there is no 'sine'
model M
  Real x;
equation
  x = sine(time);
end M;
