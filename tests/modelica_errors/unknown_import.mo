// 3: 'Libary.Units'
model M
  import Libary.Units;
  Units.Angle x = 1;
end M;
