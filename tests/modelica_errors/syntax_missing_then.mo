// 6: expected 'then' after the condition
model M
  discrete Integer n;
  Real x = time;
equation
  when x > 0.5
    n = 1;
  end when;
end M;
