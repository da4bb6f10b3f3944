// 4: outer 'a.p' and inner 'p' do not fit
model M
  model A
    outer Real p; Real q = p;
  end A;
  inner Real p[2] = {1, 2};
  A a;
end M;
