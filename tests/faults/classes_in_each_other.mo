// simulate -> 2: classes_in_each_other.mo:3:[0-9]+: error: .*contains itself without end
model M
 model A B b; end A; model B A a; end B; A a;
end M;
