// 5: assertion violated: singular
function s input Real A[:,:]; input Real b[:]; output Real x[size(b,1)]; output Integer info; external "FORTRAN 77" dgesv(x, info); end s;
function f input Real A[:,:]; input Real b[:]; output Real x[size(b,1)]; protected Integer info;
algorithm (x, info) := s(A, b);
  assert(info == 0, "singular"); end f;
model M parameter Real x[2] = f([1,2;2,4], {1,1}); Real y = x[1]; end M;
