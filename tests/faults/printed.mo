// simulate -> 0: ^hello$
model M
  function print
    input String text;
    input String file = "";
    external "C" ModelicaInternal_print(text, file);
  end print;
  Real x = time;
initial algorithm
  // at once, since nothing it depends on varies
  print("hello");
end M;
