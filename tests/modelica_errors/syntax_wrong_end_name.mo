// 4: expected 'end M' .* found 'end N'
model M
  Real x = 1;
end N;
