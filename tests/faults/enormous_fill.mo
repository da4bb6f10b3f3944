// simulate -> 2: enormous_fill.mo:3:[0-9]+: error: an array of 1e\+10 elements
model M
 Real x = sum(fill(1.0, 100000, 100000))*time;
end M;
