// 12: 'expo'.*'exponent'
model A
  function f
    input Real base;
    input Real exponent;
    output Real y;
  algorithm
    y := base^exponent;
  end f;
  Real x;
equation
  x = f(time, expo = 2);
end A;
