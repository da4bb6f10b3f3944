within ;
package Saltus "Models that come with Saltus"
  annotation(Documentation(info = "<html>
<p>Models that use what Saltus adds to Modelica: if-equations whose branches change the structure
and the index of the system. Nothing else is needed; connectors are those of the Modelica Standard
Library in name and content, so that both can be mixed.</p>
</html>"));
end Saltus;
