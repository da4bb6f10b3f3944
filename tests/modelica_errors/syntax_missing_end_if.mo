// 10: the 'if' of line 5 is not closed: expected 'end if'
model M
  Real x;
equation
  if time < 1 then
    x = 1;
  else
    x = 2;

end M;
