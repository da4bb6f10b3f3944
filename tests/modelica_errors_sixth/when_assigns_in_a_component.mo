// 8: 'b.x' is a variable of component 'b'
block B
  discrete Real x;
end B;
model M B b;
equation
  when time > 0.5 then
    b.x = 1;
  end when;
end M;
