// 13: unit.*rad.*m|unit.*m.*rad
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
