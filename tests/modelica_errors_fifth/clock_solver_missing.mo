// 5: der\(x\) in a clocked part needs a clock with a solverMethod
model M
  Real x(start = 1);
equation
  when Clock(0.1) then der(x) = -x; end when;
end M;
