// 3: Integer.*Real|Real.*Integer
model A
  parameter Integer n = 2.5;
  Real x[2] = {n, n};
end A;
