// simulate -> 2: extends_itself.mo:3:[0-9]+: error: 'M' extends itself
model M
 extends M;
end M;
