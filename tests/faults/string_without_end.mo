// simulate -> 2: string_without_end.mo:2:[0-9]+: error: this string is not closed
model M "abc
 Real x = time;
end M;
