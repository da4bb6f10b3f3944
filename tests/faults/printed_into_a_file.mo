// simulate -> 0: reached the stop time
model M
  function print
    input String text;
    input String file = "";
    external "C" ModelicaInternal_print(text, file);
  end print;
  Real x = time;
equation
  when sample(0, 0.5) then
    print("now " + String(time), "logs/times.txt");
  end when;
end M;
