"""Models: from Modelica text, bundled examples, or built by hand."""

from __future__ import annotations

import math
import subprocess
import threading
from os import PathLike, fspath
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._inputs import Input, from_function, sorted_inputs
from ._result import Result
from ._servant import Error, Servant, SharedNumbers, program

Value = Union[float, int, bool, str]


class Linear(NamedTuple):
    """x' = A x + B u, y = C x + D u near a point of one mode."""

    mode: str
    time: float
    states: List[str]
    inputs: List[str]
    outputs: List[str]
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    poles: np.ndarray
    zeros: np.ndarray

    def transfer(self, s: complex) -> np.ndarray:
        """C (sI - A)^-1 B + D."""
        n = len(self.states)
        return self.C @ np.linalg.solve(s * np.eye(n) - self.A, self.B.astype(complex)) + self.D


class Steady(NamedTuple):
    """An equilibrium."""

    mode: str
    values: Dict[str, float]
    poles: np.ndarray
    stable: bool
    unique: bool


class FittedParameter(NamedTuple):
    """A parameter found from data; `deviation` is its standard deviation, NaN where it is not known."""

    name: str
    value: float
    deviation: float
    start: float
    at_bound: bool

    def interval(self, deviations: float = 1.96) -> Tuple[float, float]:
        """The values within so many standard deviations; 1.96: 95 %."""
        return self.value - deviations * self.deviation, self.value + deviations * self.deviation


class Fit(NamedTuple):
    """Parameters found from data. `fitted` has the model at the times of the data, by name of the result."""

    converged: bool
    message: str
    parameters: Dict[str, FittedParameter]
    misfits: Dict[str, float]
    correlations: np.ndarray
    not_told_apart: List[str]
    why_differences: str
    runs: int
    time: np.ndarray
    measured: Dict[str, np.ndarray]
    fitted: Dict[str, np.ndarray]

    @property
    def values(self) -> Dict[str, float]:
        """By name of the parameter, to be given to ``simulate``."""
        return {name: p.value for name, p in self.parameters.items()}


_OPTIONS = (
    "start_time",
    "stop_time",
    "tolerance",
    "absolute_tolerance",
    "interval",
    "max_step",
    "max_seconds",
    "hysteresis",
    "method",
    "formulation",
)


class Model:
    """A translated model. Threads may use one at the same time; each run has a process of its own."""

    def __init__(self, load: Dict[str, Any], functions: Optional[Mapping[str, Callable[[float], float]]] = None):
        self._load = load
        self._functions = dict(functions or {})
        self._span = (0.0, 1.0)  # of time that the functions have been sampled over
        self._lock = threading.Lock()
        self._idle: List[Servant] = []
        self._fed: Optional[Tuple[Any, Model]] = None  # the model with other inputs, and which
        if self._functions:
            self._sample(*self._span)
        servant = Servant(self._load)
        self._idle.append(servant)
        self.name: str = servant.loaded["name"]
        self.warnings: List[str] = servant.loaded["warnings"]
        self.start_time: float = servant.loaded["start_time"]
        self.stop_time: float = servant.loaded["stop_time"]
        self.variables: List[str] = servant.loaded["variables"]
        self._parameters: Dict[str, Dict[str, Any]] = servant.loaded["parameters"]

    @property
    def parameters(self) -> Dict[str, float]:
        """Names and values of what can be varied without translating again."""
        return {name: p["value"] for name, p in self._parameters.items()}

    def __repr__(self) -> str:
        return f"<saltus.Model {self.name}: {len(self.variables)} variables, {len(self._parameters)} parameters>"

    def _sample(self, begin: float, end: float) -> None:
        data = dict(self._load["data"])
        for name, function in self._functions.items():
            data[name] = from_function(name, function, begin, end)
        self._load = {**self._load, "data": data}
        self._span = (begin, end)

    def _cover(self, options: Mapping[str, Any], until: Optional[float] = None) -> None:
        """Samples functions of time over all of a run."""
        if not self._functions:
            return
        begin = float(options.get("start_time", self.start_time))
        end = max(float(options.get("stop_time", self.stop_time)), until or begin)
        with self._lock:
            if self._span[0] <= begin and end <= self._span[1]:
                return
            self._sample(min(begin, self._span[0]), max(end, self._span[1]))
            idle, self._idle = self._idle, []
        for servant in idle:
            servant.close()

    def _ask(self, request: Dict[str, Any], until: Optional[float] = None) -> Dict[str, Any]:
        self._cover(request.get("options", {}), until)
        with self._lock:
            servant = self._idle.pop() if self._idle else None
            load = self._load
        if servant is None or not servant.alive:
            servant = Servant(load)
        try:
            return servant.ask(request)
        finally:
            if servant.alive:
                with self._lock:
                    is_current = load is self._load
                    if is_current:
                        self._idle.append(servant)
                if not is_current:
                    servant.close()

    def _request(self, what: str, given: Mapping[str, Any]) -> Dict[str, Any]:
        options = {k: v for k, v in given.items() if k in _OPTIONS and v is not None}
        parameters = {k: _number(k, v) for k, v in given.items() if k not in _OPTIONS}
        return {"do": what, "options": options, "parameters": parameters}

    def simulate(
        self,
        parameters: Optional[Mapping[str, float]] = None,
        *,
        sensitivities: Sequence[str] = (),
        inputs: Optional[Mapping[str, Input]] = None,
        check: bool = False,
        **given: Any,
    ) -> Result:
        """One run.

        `inputs` are as those of ``load``, for this run; the model is translated again for others than before.

        Keywords that are options of a run (stop_time, tolerance, interval, method, ...) are taken as such,
        all others are parameters or start values; names with dots go into `parameters`. The result of a run
        that ends early has its reason in ``status`` and ``message``; with ``check`` it raises RuntimeError.
        """
        if inputs:
            fed = self._with_inputs(inputs)
            return fed.simulate(parameters, sensitivities=sensitivities, check=check, **given)
        request = self._request("simulate", {**(parameters or {}), **given})
        request["options"]["sensitivities"] = list(sensitivities)
        numbers = SharedNumbers()
        try:
            request["points"] = numbers.path
            result = Result(self._ask(request), None if numbers is None else numbers.map())
        finally:
            numbers.close()
        if result.status == "interrupted":
            raise KeyboardInterrupt
        if check and not result.completed:
            raise RuntimeError(result.message)
        return result

    def _with_inputs(self, inputs: Mapping[str, Input]) -> "Model":
        if "model" not in self._load:
            raise Error("inputs are for models from text; one built by hand has equations")
        texts, arrays, functions = sorted_inputs(inputs)
        kept = {k: v for k, v in self._functions.items() if k not in inputs}
        load = {
            **self._load,
            "inputs": {**{k: v for k, v in self._load["inputs"].items() if k not in inputs}, **texts},
            "data": {
                **{k: v for k, v in self._load["data"].items() if k not in inputs and k not in kept},
                **arrays,
            },
        }
        functions = {**kept, **functions}
        key = (load, functions)
        with self._lock:
            if self._fed is not None and self._fed[0] == key:
                return self._fed[1]
        model = Model(load, functions)
        with self._lock:
            before, self._fed = self._fed, (key, model)
        if before is not None:
            before[1].close()
        return model

    def analyze(self, **given: Any) -> Dict[str, Any]:
        """Index, hidden constraints and guards of the modes, as `saltus analyze --json -` gives them."""
        return self._ask(self._request("analyze", given))

    def check(self) -> List[str]:
        """Translates the model again, with what its file says now; the warnings. Raises Error."""
        servant = Servant(self._load)
        servant.close()
        return servant.loaded["warnings"]

    def linearize(
        self,
        at: float = 0.0,
        inputs: Sequence[str] = (),
        outputs: Sequence[str] = (),
        parameters: Optional[Mapping[str, float]] = None,
        **given: Any,
    ) -> Linear:
        """The mode in force at time `at`, with all constraints eliminated."""
        request = self._request("linearize", {**(parameters or {}), **given})
        request.update(at=float(at), inputs=list(inputs), outputs=list(outputs))
        a = self._ask(request, until=float(at))
        n, m, p = len(a["states"]), len(a["inputs"]), len(a["outputs"])
        return Linear(
            a["mode"],
            a["time"],
            a["states"],
            a["inputs"],
            a["outputs"],
            np.array(a["A"], dtype=float).reshape(n, n),
            np.array(a["B"], dtype=float).reshape(n, m),
            np.array(a["C"], dtype=float).reshape(p, n),
            np.array(a["D"], dtype=float).reshape(p, m),
            _complex(a["poles"]),
            _complex(a["zeros"]),
        )

    def steady(
        self,
        at: float = 0.0,
        longest: float = 1e4,
        parameters: Optional[Mapping[str, float]] = None,
        **given: Any,
    ) -> Steady:
        """An equilibrium, searched from the point of the run at time `at`."""
        request = self._request("steady", {**(parameters or {}), **given})
        request.update(at=float(at), longest=float(longest))
        a = self._ask(request, until=float(at))
        return Steady(a["mode"], a["values"], _complex(a["poles"]), a["stable"], a["unique"])

    def fit(
        self,
        data: Mapping[str, Sequence[float]],
        free: Sequence[str],
        bounds: Optional[Mapping[str, Sequence[Optional[float]]]] = None,
        time: str = "time",
        parameters: Optional[Mapping[str, float]] = None,
        **given: Any,
    ) -> Fit:
        """Parameters `free` from measured results, by least squares, from the values the model has.

        `data` has a column of times and columns under the names of results (or expressions of them): a mapping to
        arrays, or a pandas data frame; NaN was not measured. `bounds` gives (lower, upper), None for no bound.
        """
        if time not in data:
            raise Error(f"the data have no column '{time}' of times")
        times = np.asarray(data[time], dtype=float)
        names = [name for name in data if name != time]
        columns = {name: np.asarray(data[name], dtype=float) for name in names}
        for name, column in columns.items():
            if column.shape != times.shape:
                raise Error(f"'{name}' has {len(column)} values, but there are {len(times)} times")
            if np.any(np.isinf(column)):
                raise Error(f"'{name}' has values that are not finite")
        if len(times) < 2 or not np.all(np.isfinite(times)) or np.any(np.diff(times) <= 0):
            raise Error("a fit needs at least two times, which are finite and increase")
        if not names:
            raise Error("the data have no values")
        for name in bounds or {}:
            if name not in free:
                raise Error(f"there are bounds for '{name}', which is not free")
        request = self._request("fit", {**(parameters or {}), **given})
        rows = np.stack([columns[name] for name in names], axis=1)
        request.update(
            names=names,
            times=times.tolist(),
            values=[None if np.isnan(v) else float(v) for v in rows.ravel()],
            free=[_free(name, (bounds or {}).get(name, (None, None))) for name in free],
        )
        a = self._ask(request, until=float(times[-1]))
        fitted = np.array(a["fitted"], dtype=float).reshape(rows.shape)
        n = len(free)
        return Fit(
            a["converged"],
            a["message"],
            {
                p["name"]: FittedParameter(
                    p["name"],
                    p["value"],
                    math.nan if p["deviation"] is None else p["deviation"],
                    p["start"],
                    p["at_bound"],
                )
                for p in a["parameters"]
            },
            dict(zip(names, a["misfits"])),
            np.array(a["correlations"], dtype=float).reshape(n, n),
            a["not_told_apart"],
            a["why_differences"],
            a["runs"],
            times,
            columns,
            {name: fitted[:, k] for k, name in enumerate(names)},
        )

    def sweep(
        self,
        vary: Mapping[str, Union[str, Sequence[float]]],
        record: Union[Sequence[str], Mapping[str, str]],
        output: Union[str, "PathLike[str]"],
        *,
        plan: str = "grid",
        samples: Optional[int] = None,
        normal: Optional[Mapping[str, Sequence[float]]] = None,
        seed: int = 1,
        jobs: Optional[int] = None,
        resume: bool = False,
        **options: Any,
    ) -> Any:
        """Many runs, as `saltus sweep`: `vary` gives lists or ranges ("0.1:0.1:2", "log:1:1e4:20").

        Returns the data set of the runs (xarray), read from `output`.
        """
        if "model" not in self._load:
            raise Error("a study needs a model from text or a bundled example")
        if self._load.get("data"):
            raise Error(
                "a study cannot take inputs from arrays and functions: write them to a file and give FILE:COLUMN"
            )
        command = [program(), "sweep", self._load["model"], "--output", fspath(output), "--quiet"]
        for name, value in self._load["settings"].items():
            command += ["--set", f"{name}={_text(value)}"]
        for name, expression in self._load["inputs"].items():
            command += ["--input", f"{name}={expression}"]
        for folder in self._load["libraries"]:
            command += ["--library", folder]
        for name, values in vary.items():
            text = values if isinstance(values, str) else ",".join(repr(float(v)) for v in values)
            command += ["--vary", f"{name}={text}"]
        for name, (mean, deviation) in (normal or {}).items():
            command += ["--normal", f"{name}={float(mean)!r},{float(deviation)!r}"]
        records = record.items() if isinstance(record, Mapping) else ((None, r) for r in record)
        for name, expression in records:
            command += ["--record", f"{name} = {expression}" if name else expression]
        command += [f"--{plan}"] + ([str(samples)] if samples is not None else [])
        command += ["--seed", str(seed)] + (["--jobs", str(jobs)] if jobs else [])
        command += ["--resume"] if resume else []
        for name, value in options.items():
            if name not in _OPTIONS:
                raise Error(f"'{name}' is no option of a run")
            command += ["--" + name.replace("_", "-"), str(value)]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode == 2:
            raise Error(done.stderr.strip().removeprefix("error: "))
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        import xarray

        with xarray.open_dataset(output) as data:
            return data.load()

    def close(self) -> None:
        """Ends the processes of the model; it may be used again."""
        with self._lock:
            idle, self._idle = self._idle, []
            fed, self._fed = self._fed, None
        for servant in idle:
            servant.close()
        if fed is not None:
            fed[1].close()

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # the interpreter may be ending
            pass


def load(
    model: Union[str, "PathLike[str]"],
    library: Union[str, "PathLike[str]", Sequence[Union[str, "PathLike[str]"]]] = (),
    settings: Optional[Mapping[str, Value]] = None,
    inputs: Optional[Mapping[str, Input]] = None,
) -> Model:
    """Translates FILE.mo, FILE.mo:Class, Package.Class or a bundled example.

    `settings` are values of parameters (of any type) given before the translation. `inputs` give variables that
    the model leaves open: an expression in its names (``{"u": "sin(2*time)"}``), a column of a file
    (``"drive.csv:torque"``, ``"drive.mat:torque:spline"``), arrays ``(times, values)`` or
    ``(times, values, "hold")`` ("linear", "spline"; two equal times are a jump), or a function of time. A
    function is sampled over the run when it begins, so it must always give the same.
    """
    texts, arrays, functions = sorted_inputs(inputs or {})
    folders = [library] if isinstance(library, (str, PathLike)) else list(library)
    return Model(
        {
            "do": "load",
            "model": fspath(model),
            "settings": {k: _text(v) for k, v in (settings or {}).items()},
            "inputs": texts,
            "data": arrays,
            "libraries": [fspath(f) for f in folders],
        },
        functions,
    )


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise Error(f"'{name}' is given {value!r}, which is not a number") from None


def _free(name: str, bounds: Sequence[Optional[float]]) -> Dict[str, Any]:
    if len(bounds) != 2:
        raise Error(f"the bounds of '{name}' are (lower, upper), with None for no bound")
    lower, upper = (None if b is None or math.isinf(b) else _number(name, b) for b in bounds)
    if lower is not None and upper is not None and not lower < upper:
        raise Error(f"the bounds of '{name}' leave nothing between {lower} and {upper}")
    return {"name": name, "lower": lower, "upper": upper}


def _complex(pairs: Sequence[Sequence[float]]) -> np.ndarray:
    return np.array([complex(re, im) for re, im in pairs], dtype=complex)
