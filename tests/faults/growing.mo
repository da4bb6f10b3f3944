// simulate --stop-time 0.7 -> 0: steps +[0-9]{4} \(
model M "honest growth, to exp(700): 1e304"
  Real x(start = 1, fixed = true);
equation
  der(x) = 1000*x;
end M;
