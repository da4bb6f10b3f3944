// simulate -> 0: reached the stop time
model M
 Real x = time;
end M;
