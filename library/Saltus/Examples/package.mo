within Saltus;
package Examples "Small systems whose structure changes"
  annotation(Documentation(info = "<html>
<p>Textbook systems of switched differential-algebraic equations, written as text. Tests hold them
against the same systems written in C++ and against exact solutions.</p>
</html>"));
end Examples;
