// 5: function 'f' is partial and cannot be called
partial function f input Real u; output Real v; external "C" v = f(u); end f;
model M
  Real x;
equation x = f(time);
end M;
