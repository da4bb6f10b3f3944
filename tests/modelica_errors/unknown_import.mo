// 3: Libary|class
model M
  import Libary.Units;
  Units.Angle x = 1;
end M;
