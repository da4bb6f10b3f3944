// simulate -> 2: printing into a file: not supported
model M
  function print
    input String text;
    input String file;
    external "C" ModelicaInternal_print(text, file);
  end print;
  Real x = time;
initial algorithm
  print("text", "somewhere.txt");
end M;
