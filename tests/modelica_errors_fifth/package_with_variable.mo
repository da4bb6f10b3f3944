// 3: 'x' of package 'P' is no constant
package P
  Real x = 1;
end P;
model M
  Real y = P.x;
end M;
