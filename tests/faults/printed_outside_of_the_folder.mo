// simulate -> 2: printed_outside_of_the_folder.mo:13:[0-9]+: error: the model may write only below 'out/files'
model M
  function print
    input String text;
    input String file = "";
    external "C" ModelicaInternal_print(text, file);
  end print;
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  when x > 0.5 then
    // '..' leads out of it
    print("text", "../M.csv");
  end when;
end M;
