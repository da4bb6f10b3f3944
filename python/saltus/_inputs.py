"""Inputs of a model: expressions, columns of files, arrays and functions of time."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Sequence, Tuple, Union

import numpy as np

from ._servant import Error

Input = Union[
    str,  # an expression in the model's names, or FILE:COLUMN
    Callable[[float], float],
    Tuple[Sequence[float], Sequence[float]],  # times and values
    Tuple[Sequence[float], Sequence[float], str],  # and how they are joined
]

JOININGS = ("hold", "linear", "spline")


def from_arrays(name: str, given: Sequence[Any]) -> Dict[str, Any]:
    """Times and values as the program takes them; jumps are two equal times."""
    if len(given) not in (2, 3):
        raise Error(f"input '{name}': give (times, values) or (times, values, joining)")
    joining = given[2] if len(given) == 3 else "linear"
    if joining not in JOININGS:
        raise Error(f"input '{name}': values are joined by {', '.join(JOININGS)}, not {joining!r}")
    try:
        time = np.asarray(given[0], dtype=float)
        value = np.asarray(given[1], dtype=float)
    except (TypeError, ValueError) as problem:
        raise Error(f"input '{name}': times and values must be numbers ({problem})") from None
    if time.ndim != 1 or time.shape != value.shape:
        raise Error(
            f"input '{name}': times and values must be arrays of one dimension and one length, "
            f"not of shapes {time.shape} and {value.shape}"
        )
    for what, numbers in (("time", time), ("value", value)):
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if len(wrong):
            raise Error(f"input '{name}': {what} {wrong[0]} is {numbers[wrong[0]]}, not a finite number")
    return {"source": f"array of '{name}'", "time": time.tolist(), "value": value.tolist(), "joining": joining}


def from_function(name: str, f: Callable[[float], float], begin: float, end: float) -> Dict[str, Any]:
    """A spline through points of a function, closer where it bends; its jumps become jumps.

    Between the points the spline is compared with the function: it is met to 1e-9 of its size.
    """

    def value(t: float) -> float:
        result = f(float(t))
        try:
            number = float(result)
        except (TypeError, ValueError):
            number = float("nan")
        if not np.isfinite(number):
            raise Error(f"input '{name}': the function gives {result!r} at t = {t}, not a finite number")
        return number

    if not end > begin:
        return from_arrays(name, ([begin], [value(begin)], "hold"))
    times = list(np.linspace(begin, end, 129))
    values = [value(t) for t in times]
    smallest = 1e-13 * max(abs(begin), abs(end), end - begin)
    for _ in range(60):
        size = max(max(abs(v) for v in values), 1e-300)
        wrong = _bad_intervals(times, values, value, 1e-9 * size, smallest)
        if not wrong:
            break
        if len(times) > 200_000:
            raise Error(f"input '{name}': the function moves too fast to be followed; give arrays")
        at = dict(wrong)
        times, values = _refined(times, values, at)
    pieces_t: List[float] = [times[0]]
    pieces_v: List[float] = [values[0]]
    for t0, t1, v0, v1 in zip(times, times[1:], values, values[1:]):
        if t1 - t0 <= 2.0 * smallest and abs(v1 - v0) > 1e-9 * size:
            pieces_t.append(t0)  # a jump, at the last time before it
            pieces_v.append(v1)
            continue
        pieces_t.append(t1)
        pieces_v.append(v1)
    data = from_arrays(name, (pieces_t, pieces_v, "spline"))
    data["source"] = f"function of '{name}'"
    return data


def _refined(times: List[float], values: List[float], at: Mapping[int, float]) -> Tuple[List[float], List[float]]:
    new_t: List[float] = []
    new_v: List[float] = []
    for k, (t, v) in enumerate(zip(times, values)):
        new_t.append(t)
        new_v.append(v)
        if k in at:
            new_t.append(0.5 * (t + times[k + 1]))
            new_v.append(at[k])
    return new_t, new_v


def _bad_intervals(
    times: List[float], values: List[float], value: Callable[[float], float], error: float, smallest: float
) -> List[Tuple[int, float]]:
    """Intervals in whose middle the cubic through the four points around is not the function."""
    t, v = np.asarray(times), np.asarray(values)
    found = []
    for k in range(len(t) - 1):
        if t[k + 1] - t[k] <= 2.0 * smallest:
            continue
        first = min(max(k - 1, 0), len(t) - 4)
        x, y = t[first : first + 4], v[first : first + 4]
        middle = 0.5 * (t[k] + t[k + 1])
        guess = 0.0
        for i in range(4):
            others = np.delete(x, i)
            guess += y[i] * np.prod((middle - others) / (x[i] - others))
        real = value(middle)
        if abs(guess - real) > error:
            found.append((k, real))
    return found


def sorted_inputs(
    inputs: Mapping[str, Input],
) -> Tuple[Dict[str, str], Dict[str, Dict[str, Any]], Dict[str, Callable[[float], float]]]:
    """Expressions, arrays and functions."""
    texts: Dict[str, str] = {}
    arrays: Dict[str, Dict[str, Any]] = {}
    functions: Dict[str, Callable[[float], float]] = {}
    for name, given in inputs.items():
        if isinstance(given, str):
            texts[name] = given
        elif isinstance(given, (int, float)):
            texts[name] = repr(float(given))
        elif callable(given):
            functions[name] = given
        elif isinstance(given, (tuple, list)):
            arrays[name] = from_arrays(name, given)
        else:
            raise Error(
                f"input '{name}': give an expression, FILE:COLUMN, a function of time, or (times, values)"
            )
    return texts, arrays, functions
