// 3: 'q' is no format
model A
  parameter String s = String(1.5, format = "q");
end A;
