// 4: contains itself
model M
  model A
    A a;
  end A;
  A a;
end M;
