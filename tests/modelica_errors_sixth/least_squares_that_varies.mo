// 3: external function 'l' with arguments that vary: not supported
function l input Real A[:,:]; input Real b[:]; output Real x[size(b,1)]; output Integer info; output Integer rank; external "FORTRAN 77" dgelsy(x, info, rank); end l;
model M Real x[2] = l([1,2;2,4]*time, {1,1}); end M;
