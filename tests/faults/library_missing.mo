// check -> 2: library_missing.mo:3:[0-9]+: error: import of .*--library DIR
model M
  import Modelica.Units.SI;
  SI.Length x = time;
end M;
