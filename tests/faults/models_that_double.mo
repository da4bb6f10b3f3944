// simulate --max-seconds 1 -> 1: the time limit is reached while the model was translated
model M
  model A Real x = time; end A;
  model B A a, b, c, d, e, f, g, h; end B;
  model C B a, b, c, d, e, f, g, h; end C;
  model D C a, b, c, d, e, f, g, h; end D;
  model E D a, b, c, d, e, f, g, h; end E;
  model F E a, b, c, d, e, f, g, h; end F;
  model G F a, b, c, d, e, f, g, h; end G;
  model H G a, b, c, d, e, f, g, h; end H;
  H h;
end M;
