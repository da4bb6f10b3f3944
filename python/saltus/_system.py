"""A hybrid system built by hand: the same names and ideas as in C++.

    ball = saltus.System("ball")
    h = ball.variable("h", start=1.0, unit="m")
    v = ball.variable("v", unit="m/s")
    g = ball.parameter("g", 9.81, unit="m/s2")
    flying = ball.mode("flying")
    flying.equations = [saltus.der(h) == v, saltus.der(v) == -g]
    flying.guard("impact", h, to="flying", set={v: -0.7 * v})
    ball.simulate(stop_time=2.5)
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Union

from ._model import Model
from ._result import Result
from ._servant import Error


class Expr:
    """An expression; == writes an equation."""

    __slots__ = ("text", "is_symbol")
    __hash__ = object.__hash__

    def __init__(self, text: str, is_symbol: bool = False):
        self.text = text
        self.is_symbol = is_symbol

    def __add__(self, other: "Operand") -> "Expr":
        return _join(self, "+", other)

    def __radd__(self, other: "Operand") -> "Expr":
        return _join(other, "+", self)

    def __sub__(self, other: "Operand") -> "Expr":
        return _join(self, "-", other)

    def __rsub__(self, other: "Operand") -> "Expr":
        return _join(other, "-", self)

    def __mul__(self, other: "Operand") -> "Expr":
        return _join(self, "*", other)

    def __rmul__(self, other: "Operand") -> "Expr":
        return _join(other, "*", self)

    def __truediv__(self, other: "Operand") -> "Expr":
        return _join(self, "/", other)

    def __rtruediv__(self, other: "Operand") -> "Expr":
        return _join(other, "/", self)

    def __pow__(self, other: "Operand") -> "Expr":
        return _join(self, "^", other)

    def __rpow__(self, other: "Operand") -> "Expr":
        return _join(other, "^", self)

    def __neg__(self) -> "Expr":
        return Expr(f"(-{self.text})")

    def __pos__(self) -> "Expr":
        return self

    def __lt__(self, other: "Operand") -> "Expr":
        return _join(self, "<", other)

    def __le__(self, other: "Operand") -> "Expr":
        return _join(self, "<=", other)

    def __gt__(self, other: "Operand") -> "Expr":
        return _join(self, ">", other)

    def __ge__(self, other: "Operand") -> "Expr":
        return _join(self, ">=", other)

    def __eq__(self, other: object) -> "Equation":  # type: ignore[override]
        return Equation(self, other)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        raise Error("an expression is neither true nor false before the run; use saltus.where(condition, a, b)")

    def __repr__(self) -> str:
        return self.text


Operand = Union[Expr, float, int]


class Equation:
    """left == right."""

    __slots__ = ("text",)

    def __init__(self, left: Operand, right: Operand):
        self.text = f"{_text(left)} = {_text(right)}"

    def __bool__(self) -> bool:
        return False  # so that `x in list` and comparisons of symbols do not take it for true

    def __repr__(self) -> str:
        return self.text


def _text(value: Operand) -> str:
    if isinstance(value, Expr):
        return value.text
    number = float(value)
    if number != number or number in (float("inf"), float("-inf")):
        raise Error(f"{value!r} is not a finite number")
    return f"({number!r})" if number < 0 else repr(number)


def _join(left: Operand, operator: str, right: Operand) -> Expr:
    return Expr(f"({_text(left)} {operator} {_text(right)})")


def der(x: Expr) -> Expr:
    """The time derivative of a variable."""
    if not x.is_symbol:
        raise Error(f"der() takes a variable, not {x}")
    return Expr(f"der({x.text})", True)


def where(condition: Expr, yes: Operand, no: Operand) -> Expr:
    """`yes` while the condition holds, else `no`. Switches without an event: guards are for these."""
    return Expr(f"(if {_text(condition)} then {_text(yes)} else {_text(no)})")


def _function(name: str) -> Any:
    def call(*arguments: Operand) -> Expr:
        return Expr(f"{name}({', '.join(_text(a) for a in arguments)})")

    call.__name__ = name
    call.__doc__ = f"{name}() of expressions."
    return call


sqrt, exp, log, log10, sin, cos, tan = map(_function, ("sqrt", "exp", "log", "log10", "sin", "cos", "tan"))
asin, acos, atan, atan2 = map(_function, ("asin", "acos", "atan", "atan2"))
sinh, cosh, tanh, sign = map(_function, ("sinh", "cosh", "tanh", "sign"))
minimum, maximum, absolute = _function("min"), _function("max"), _function("abs")


class Mode:
    """Equations that hold together, and guards that are positive while they do."""

    def __init__(self, name: str):
        self.name = name
        self.equations: List[Equation] = []
        self.guards: List[Dict[str, Any]] = []

    def guard(
        self,
        name: str,
        value: Operand,
        to: str = "",
        set: Optional[Mapping[Expr, Operand]] = None,  # noqa: A002: the name of C++
        priority: int = 1,
    ) -> None:
        """Where `value` reaches zero from above the system goes to mode `to` (none: the run ends)."""
        assigned = {}
        for variable, expression in (set or {}).items():
            if not variable.is_symbol:
                raise Error(f"guard '{name}' sets {variable}, which is no variable")
            assigned[variable.text] = _text(expression)
        self.guards.append(
            {"name": name, "value": _text(value), "to": to, "priority": priority, "set": assigned}
        )


class System:
    """Variables and parameters shared by all modes, and the modes."""

    def __init__(self, name: str):
        self.name = name
        self.initial_mode = ""
        self.stop_time = 1.0
        self._variables: List[Dict[str, Any]] = []
        self._parameters: List[Dict[str, Any]] = []
        self._modes: List[Mode] = []

    time = Expr("time")

    def variable(
        self,
        name: str,
        start: Operand = 0.0,
        fixed: bool = False,
        nominal: float = 1.0,
        unit: str = "",
        description: str = "",
    ) -> Expr:
        self._variables.append(
            {
                "name": name,
                "start": _text(start),
                "fixed": fixed,
                "nominal": nominal,
                "unit": unit,
                "description": description,
            }
        )
        return Expr(name, True)

    def parameter(self, name: str, value: float, unit: str = "", description: str = "") -> Expr:
        self._parameters.append(
            {"name": name, "value": float(value), "unit": unit, "description": description}
        )
        return Expr(name)

    def mode(self, name: str) -> Mode:
        """A new mode; the first one made is the initial mode."""
        self._modes.append(Mode(name))
        return self._modes[-1]

    def model(self) -> Model:
        """The system as it is now, ready to run many times."""
        for mode in self._modes:
            for equation in mode.equations:
                if not isinstance(equation, Equation):
                    raise Error(f"{equation!r} in mode '{mode.name}' is no equation; write left == right")
        return Model(
            {
                "do": "load",
                "system": {
                    "name": self.name,
                    "variables": self._variables,
                    "parameters": self._parameters,
                    "initial_mode": self.initial_mode,
                    "stop_time": self.stop_time,
                    "modes": [
                        {
                            "name": m.name,
                            "equations": [e.text for e in m.equations],
                            "guards": m.guards,
                        }
                        for m in self._modes
                    ],
                },
            }
        )

    def simulate(self, parameters: Optional[Mapping[str, float]] = None, **given: Any) -> Result:
        with self.model() as model:
            return model.simulate(parameters, **given)
