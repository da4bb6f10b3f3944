// 15: a String that depends on variables
function name
  input Real x;
  output String s;
algorithm
  if x > 0 then
    s := "forward";
  else
    s := "backward";
  end if;
end name;
model M
  Real x = time - 0.5;
equation
  assert(name(x) == "backward", "forward");
end M;
