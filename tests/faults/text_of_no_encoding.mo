// simulate -> 0: reached the stop time
model M "ÿşÀ"
 Real x(unit="ÿ") = time;
end M;
