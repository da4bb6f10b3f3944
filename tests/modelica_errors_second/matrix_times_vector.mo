// 6: \[2, 3\].*\[2\]
model A
  parameter Real A[2, 3] = [1, 2, 3; 4, 5, 6];
  Real x[2] = {time, 1}, y[2];
equation
  y = A*x;
end A;
