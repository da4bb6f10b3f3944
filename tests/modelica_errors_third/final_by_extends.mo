// 12: 'i.J' is final
model Inertia
  parameter Real J = 1;
  Real w(start = 0, fixed = true);
equation
  J*der(w) = 1;
end Inertia;
model Rotor
  extends Inertia(final J = 2);
end Rotor;
model A
  Rotor i(J = 3);
end A;
