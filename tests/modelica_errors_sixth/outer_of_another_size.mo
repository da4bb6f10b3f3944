// 3: outer 'a.p' and inner 'p' do not fit: 6 and 10 elements
model A
  outer Real p[6];
  Real x = p[5];
end A;
model M
  inner Real p[10] = ones(10);
  A a;
end M;
