// simulate -> 1: ended_by_exit_at_start.mo:9:[0-9]+: error: .*the model ended the run by exit\(3\)
model M
  function exit
    input Integer status;
    external "C" ModelicaInternal_exit(status);
  end exit;
  Real x = time;
initial algorithm
  exit(3);
end M;
