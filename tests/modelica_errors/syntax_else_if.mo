// 9: 'else if' opens a second 'if'
model M
  Real x;
equation
  if time < 1 then
    x = 1;
  else if time < 2 then x = 2; else x = 3;
  end if;
end M;
