// simulate -> 2: comment_without_end.mo:2:[0-9]+: error: this comment is not closed
model M /* abc
 Real x = time;
end M;
