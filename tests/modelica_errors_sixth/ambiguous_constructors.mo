// 11: two constructors of 'C' fit this call: 'a' and 'b'
operator record C
  Real x;
  encapsulated operator 'constructor'
    function a import C; input Real u; output C c; algorithm c.x := u; end a;
    function b import C; input Real u; output C c; algorithm c.x := u; end b;
  end 'constructor';
end C;
model M
  Real u = time;
  C c = C(u);
end M;
