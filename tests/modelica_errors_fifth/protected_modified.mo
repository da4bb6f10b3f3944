// 6: 'x' of 'a' is protected and cannot be modified
model A
  protected Real x = time;
end A;
model M
  A a(x = 1);
end M;
