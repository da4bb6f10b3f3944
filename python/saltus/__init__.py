"""Saltus from Python: hybrid systems of differential-algebraic equations.

    import saltus
    m = saltus.load("drive.mo")
    r = m.simulate(J1=0.3, tolerance=1e-8, stop_time=5)
    r["clutch.tau"], r.time, r.modes, r.events
    r.plot("w1", "w2")
"""

from ._model import Fit, FittedParameter, Linear, Model, Steady, load
from ._result import Event, ModeSpan, Result
from ._servant import Error
from ._system import (
    Equation,
    Expr,
    Mode,
    System,
    absolute,
    acos,
    asin,
    atan,
    atan2,
    cos,
    cosh,
    der,
    exp,
    log,
    log10,
    maximum,
    minimum,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    where,
)

__version__ = "0.2.0"
__all__ = [name for name in dir() if not name.startswith("_")]
