// simulate -> 2: function_without_end.mo:3:[0-9]+: error: this loop does not end
model M
 function f input Real u; output Real y; algorithm y := u; while true loop y := y + 1; end while; end f;
 parameter Real p = f(1);
 Real x = p*time;
end M;
