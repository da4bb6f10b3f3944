// simulate -> 2: external function 'M.command': not supported
model M
  function command
    input String s;
    output Integer status;
    external "C" status = system(s);
  end command;
  parameter Integer status = command("touch executed");
  Real x = time;
end M;
