// simulate --method half-explicit -> 0: reached the stop time
model M
end M;
