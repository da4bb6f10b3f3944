// simulate -> 0: written +[^/]*/_?[^/]*evil[^/]*.csv$
model '/../../../evil'
  Real x = time;
end '/../../../evil';
