// simulate -> 1: ended_by_exit.mo:11:[0-9]+: error: .*t = 0.5.*the model ended the run by exit\(0\)
model M
  function exit
    input Integer status;
    external "C" ModelicaInternal_exit(status);
  end exit;
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  when x > 0.5 then
    exit(0);
  end when;
end M;
