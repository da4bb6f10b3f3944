// 6: 'b' .* has no 'mass' to modify
model M
  model Body
    parameter Real m = 1;
  end Body;
  Body b(mass = 2);
end M;
