// 9: 'i.J' is final
model Inertia
  final parameter Real J = 1;
  Real w(start = 0, fixed = true);
equation
  J*der(w) = 1;
end Inertia;
model A
  Inertia i(J = 3);
end A;
