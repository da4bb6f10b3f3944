// simulate --stop-time 1 --json - -> 0: "x": 1.52848[12]
model start_of_hidden_index "Structure sees no constraint. Behind it are z1' = -z1, z3' = z2, z3 = time."
  Real x "z1 = x + y, z2 = y + 2*w, z3 = x - w";
  Real y;
  Real w;
initial equation
  x + y = 4;
equation
  2*der(x) + der(y) - der(w) + x - 2*w = 0;
  der(y) + der(w) + x + 2*y + 2*w = 0;
  3*der(x) + der(y) - 2*der(w) + 2*x - y - 5*w - time = 0;
end start_of_hidden_index;
