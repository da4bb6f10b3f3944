// 5: condition .*not a Boolean
model M
  Real x;
equation
  if 1.5 then
    x = 1;
  else
    x = 2;
  end if;
end M;
