// 3: the file 'nowhere.txt' cannot be read
impure function r input String f; input Integer n; output String s; output Boolean e; external "C" s = ModelicaInternal_readLine(f, n, e); end r;
model M parameter String s = r("nowhere.txt", 1); end M;
