// check -> 2: library_missing_for_component.mo:3:[0-9]+: error: there is no 'Modelica'.*--library DIR
model M
  Modelica.Blocks.Sources.Sine sine;
end M;
