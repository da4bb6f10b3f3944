// 6: 'M.Base' is a partial model .* redeclare 'holder.part'
model M
  partial model Base
    Real x;
  end Base;
  model Holder replaceable Base part; equation part.x = 1; end Holder;
  Holder holder;
end M;
