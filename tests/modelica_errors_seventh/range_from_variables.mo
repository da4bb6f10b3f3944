// 7: the range of 'i' depends on variables
model M
  Integer n = if time < 0.5 then 1 else 2;
  Integer m[2] = {n, 3 - n};
  Real x[2];
equation
  for i in m loop
    x[i] = time;
  end for;
end M;
