// 6: 'Inertai'.*did you mean 'Inertia'
model M
  model Inertia
    Real w = 1;
  end Inertia;
  Inertai j;
end M;
