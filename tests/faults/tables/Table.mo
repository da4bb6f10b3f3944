package P "what the blocks of the Modelica Standard Library are made of"
  class ExternalCombiTable1D
    extends ExternalObject;
    function constructor
      input String tableName;
      input String fileName;
      input Real table[:, :];
      input Integer columns[:];
      output ExternalCombiTable1D object;
      external "C" object = ModelicaStandardTables_CombiTable1D_init2(fileName, tableName, table, columns);
    end constructor;
    function destructor
      input ExternalCombiTable1D object;
      external "C" ModelicaStandardTables_CombiTable1D_close(object);
    end destructor;
  end ExternalCombiTable1D;
  function getValue
    input ExternalCombiTable1D object;
    input Integer column;
    input Real u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(object, column, u);
  end getValue;
  model Table
    parameter String tableName = "good";
    parameter String fileName = "tables.txt";
    parameter ExternalCombiTable1D object = ExternalCombiTable1D(tableName, fileName, fill(0.0, 0, 2), {2});
    Real y = getValue(object, 1, time);
  end Table;
  model Test
    Table t;
  end Test;
end P;
model Run
  extends P.Test;
end Run;
