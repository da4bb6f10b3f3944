// 3: 'Real' is the name of a predefined type
model M
  Integer Real = 1;
end M;
