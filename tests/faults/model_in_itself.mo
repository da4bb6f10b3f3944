// simulate -> 2: contains itself without end
model M
  M inner_part;
  Real x = time;
end M;
