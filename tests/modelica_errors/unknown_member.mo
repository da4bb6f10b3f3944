// 6: 'b' .* has no 'v'
model M
  model Body
    Real w = 1;
  end Body;
  Real x = b.v;
  Body b;
end M;
