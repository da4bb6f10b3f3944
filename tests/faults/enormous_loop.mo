// simulate -> 2: enormous_loop.mo:3:[0-9]+: error: a range with too many elements
model M
 function f input Real u; output Real y; algorithm y := 0; for i in 1:2000000000 loop y := y + 1; end for; end f;
 Real x = f(time);
 parameter Real p = f(1);
end M;
