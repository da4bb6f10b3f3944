// 3: a linear system with a matrix .2, 2. and a right side .3.
function s input Real A[:,:]; input Real b[:]; output Real x[size(b,1)]; output Integer info; external "FORTRAN 77" dgesv(x, info); end s;
model M parameter Real x[3] = s([1,2;2,5], {1,1,1}); end M;
