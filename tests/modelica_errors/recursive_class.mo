// 4: itself|recurs|contains|cycl
model M
  model A
    A a;
  end A;
  A a;
end M;
