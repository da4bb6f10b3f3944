// 15: an order of texts that depend on what varies
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
  assert(name(x) < "c", "forward");
end M;
