// 4: is outer and cannot be modified
model M
  model A
    outer Real p = 2;
  end A;
  inner Real p = 1;
  A a;
end M;
