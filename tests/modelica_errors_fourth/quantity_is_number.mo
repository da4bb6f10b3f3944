// 3: 'quantity' of 'x' is a String, not Integer
model M
  Real x(quantity = 5) = 1;
end M;
