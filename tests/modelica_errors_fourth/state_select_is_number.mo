// 3: 'stateSelect' of 'x' is a StateSelect, not Integer
model M
  Real x(stateSelect = 1, start = 1);
equation
  der(x) = 1;
end M;
