// 6: 'mass'
model M
  model Body
    parameter Real m = 1;
  end Body;
  Body b(mass = 2);
end M;
