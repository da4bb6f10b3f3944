// 13: 'a.s' in rad with 'b.s' in m
model M
  connector Turning
    Real s(unit = "rad");
    flow Real f;
  end Turning;
  connector Sliding
    Real s(unit = "m");
    flow Real f;
  end Sliding;
  Turning a;
  Sliding b;
equation connect(a, b);
  a.s = time;
end M;
