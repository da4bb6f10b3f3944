// 6: 'opne'.*'open'
model A
  type Valve = enumeration(open, closed);
  Valve v;
equation
  v = if time > 0.5 then Valve.opne else Valve.closed;
end A;
