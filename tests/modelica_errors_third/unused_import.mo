// 3: 'Libary.Units': there is no such class
model M
  import Libary.Units.*;
  Real x = 1;
end M;
