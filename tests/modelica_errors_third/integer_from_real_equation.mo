// 3: no equation gives 'k' a value; an Integer takes Integer values
model M
  Integer k;
equation
  k = 1.5*time;
end M;
