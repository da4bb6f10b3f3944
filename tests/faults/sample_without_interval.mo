// simulate -> 2: sample_without_interval.mo:3:[0-9]+: error: sample\(\) needs a positive interval
model M
 Integer n(start=0,fixed=true); equation when sample(0, 0) then n = pre(n)+1; end when;
end M;
