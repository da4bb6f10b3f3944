// simulate -> 2: parameter_without_number.mo:3:[0-9]+: error: the value of parameter 'b' is not a finite number
model M
 parameter Real b = log(-1); Real x = b*time;
end M;
