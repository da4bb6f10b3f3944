// simulate -> 2: too_few_arguments.mo
model M
  function length
    output Integer n;
    external "C" n = ModelicaStrings_length();
  end length;
  parameter Integer n = length();
  Real x = time;
end M;
