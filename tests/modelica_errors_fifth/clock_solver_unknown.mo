// 5: the solver method "Magic" of a clock
model M
  Real x(start = 1);
equation
  when Clock(Clock(0.1), solverMethod = "Magic") then der(x) = -x; end when;
end M;
