// 6: the interval of sample\(\) needs parameters
model A
  Real p = time + 1;
  Integer k(start = 0, fixed = true);
equation
  when sample(0, p) then
    k = pre(k) + 1;
  end when;
end A;
