// 3: is input, but 'r', which it is a part of, is input already
connector R
  input Real x;
end R;
model M
  input R r(x = 1);
end M;
