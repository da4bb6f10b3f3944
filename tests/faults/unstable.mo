// simulate -> 1: unstable.mo:5.* t = 0.(6|7)|'x' changes fastest, see equation .*unstable.mo:5.*
model M
  Real x(start = 0, fixed = true);
equation
  der(x) = 1000*(x - sin(time));
end M;
