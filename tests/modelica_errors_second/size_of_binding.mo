// 3: \[3\].*\[2\]|\[2\].*\[3\]
model A
  Real v[3] = {time, 2*time};
end A;
