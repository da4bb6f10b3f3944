// 6: 'when' inside of 'when'
model M
  discrete Real x(start = 0);
equation
  when time > 0.5 then
    when time > 0.6 then
      x = 1;
    end when;
  end when;
end M;
