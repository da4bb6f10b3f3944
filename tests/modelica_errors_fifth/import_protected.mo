// 6: import of 'P.T': it is protected
package P
  protected type T = Real;
end P;
model M
  import P.T; T x = 1;
end M;
