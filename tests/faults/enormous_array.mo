// simulate -> 2: enormous_array.mo:3:[0-9]+: error: 'x' has 1000000000 elements: too many
model M
 Real x[1000000000] = fill(time,1000000000);
end M;
