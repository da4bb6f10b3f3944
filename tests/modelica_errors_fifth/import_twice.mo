// 7: 'T' is imported twice
package P type T = Real; end P;
package Q type T = Real; end Q;
model M
  import P.T;

  import Q.T;
  T x = 1;
end M;
