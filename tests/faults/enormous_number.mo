// simulate -> 2: enormous_number.mo:4:[0-9]+: error: the number 1e999 is too large
model M
 Integer i = 99999999999999999999999999;
 Real x = 1e999;
end M;
