// 3: external function 'r': not supported
impure function r input Integer id; output Real y; external "C" y = ModelicaRandom_impureRandom_xorshift1024star(id); end r;
model M discrete Real x; equation when sample(0, 0.1) then x = r(1); end when; end M;
