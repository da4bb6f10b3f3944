// simulate -> 0: ^x is 0.500, twice that 1, at 0.5$
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
    print("x is " + String(x, format = ".3f") + ", twice that " + String(2*x) + ", at " + String(time));
  end when;
end M;
