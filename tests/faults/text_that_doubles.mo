// check -> 2: text_that_doubles.mo:7:14: error: a text with more than
model M
  function f
    output String s = "a";
  algorithm
    for i in 1:60 loop
      s := s + s;
    end for;
  end f;
  parameter String s = f();
end M;
