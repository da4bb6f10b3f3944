// 8: there is no 'B' in 'M'
model A
  model B
  end B;
end A;
model M
  extends A;
  extends B;
end M;
