// 5: 'n' changes at events only
model M
  Integer n;
algorithm
  n := 0;
  if noEvent(time > 0.5) then
    n := 1;
  end if;
end M;
