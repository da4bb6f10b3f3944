within Saltus;
package Examples "Small systems whose structure changes"
  annotation(Documentation(info = "<html>
<p>Textbook systems of switched differential-algebraic equations, written as text. Each says where
it comes from and what its solution is known to be.</p>
</html>"));
end Examples;
