// simulate -> 2: delay_into_the_future.mo:3:[0-9]+: error: delay\(\) by -1
model M
 Real x = delay(time, -1); Real y = delay(time, time, 1e300);
end M;
