// 9: model 'A' of line 3 is not closed: expected 'end A;'
package P
  model A
    Real x = 1;

  model B
    Real y = 2;
  end B;
end P;
