// simulate -> 2: external function 'M.variable': not supported
model M
  function variable
    input String s;
    output String value;
    external "C" value = getenv(s);
  end variable;
  parameter String home = variable("HOME");
  Real x = time;
end M;
