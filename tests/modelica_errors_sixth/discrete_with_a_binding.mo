// 3: is a discrete Real; it is given its value in a 'when'
model M
  discrete Real x = 1;
end M;
