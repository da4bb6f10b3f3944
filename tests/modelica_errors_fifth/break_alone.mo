// 5: 'break' leaves a 'for' or 'while', and there is none around it
model M
  Real x;
algorithm
  break;
  x := 1;
end M;
