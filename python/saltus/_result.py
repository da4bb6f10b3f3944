"""What a run has given."""

from __future__ import annotations

import html
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, TYPE_CHECKING

import numpy as np

from ._servant import Error

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas
    import xarray


class ModeSpan(NamedTuple):
    """A stretch of time in one mode, in seconds."""

    name: str
    begin: float
    end: float


class Event(NamedTuple):
    """One hop of an event; `details` has all fields of the JSON summary."""

    time: float
    kind: str
    source: Optional[str]
    target: Optional[str]
    causes: List[str]
    details: Dict[str, Any]


class Result:
    """Stored points of a run and what happened on the way.

    ``r["w1"]`` is a numpy array over ``r.time``; at an event there are two points of one time, before and
    after. Values that do not exist in a mode are NaN there. Arrays are views of the memory the run was
    written to, not copies, where a signal is stored as it is.
    """

    def __init__(self, answer: Dict[str, Any], memory: Optional[Any]):
        points, columns = answer["points"], answer["columns"]
        flat = np.frombuffer(memory, dtype=np.float64) if memory is not None else np.empty(0)
        table = flat.reshape(columns + 2, points)
        self.time: np.ndarray = table[0]
        self._mode = table[1]
        self._columns = table[2:]
        self._signals = {s[0]: s for s in answer["signals"]}
        self._parameters = {p[0]: p for p in answer["parameters"]}
        self._absent: Dict[str, List[int]] = answer["absent"]
        self._mode_names: List[str] = answer["mode_names"]
        self._made: Dict[str, np.ndarray] = {}
        self.summary: Dict[str, Any] = answer["summary"]

    @property
    def status(self) -> str:
        """"completed", "terminated", or why the run ended early."""
        return self.summary["status"]

    @property
    def message(self) -> str:
        return self.summary["message"]

    @property
    def completed(self) -> bool:
        return self.status in ("completed", "terminated")

    @property
    def warnings(self) -> List[str]:
        return self.summary.get("warnings", [])

    @property
    def final(self) -> Dict[str, float]:
        """Every variable at the end."""
        return self.summary["final"]

    @property
    def names(self) -> List[str]:
        return list(self._signals)

    @property
    def parameters(self) -> Dict[str, float]:
        return {name: p[3] for name, p in self._parameters.items()}

    @property
    def events(self) -> List[Event]:
        return [
            Event(e["time"], e["kind"], e.get("from"), e.get("to"), e.get("causes", []), e)
            for e in self.summary["events"]
        ]

    @property
    def modes(self) -> List[ModeSpan]:
        """The modes that held, with the times at which they began and ended."""
        if len(self.time) == 0:
            return []
        changes = np.flatnonzero(np.diff(self._mode)) + 1
        begins = np.concatenate(([0], changes))
        ends = np.concatenate((changes, [len(self.time) - 1]))
        return [
            ModeSpan(self._mode_names[int(self._mode[b])], float(self.time[b]), float(self.time[e]))
            for b, e in zip(begins, ends)
        ]

    @property
    def sensitivities(self) -> Dict[str, Dict[str, float]]:
        """By parameter, then variable: derivative of its value at the end."""
        return self.summary.get("sensitivities", {})

    def unit(self, name: str) -> str:
        return self._find(name)[1]

    def description(self, name: str) -> str:
        return self._find(name)[2]

    def __len__(self) -> int:
        return len(self.time)

    def __iter__(self) -> Iterator[str]:
        return iter(self._signals)

    def __contains__(self, name: object) -> bool:
        return name in self._signals or name in self._parameters or name == "time"

    def _find(self, name: str) -> List[Any]:
        found = self._signals.get(name) or self._parameters.get(name)
        if found is None:
            import difflib

            near = difflib.get_close_matches(name, list(self._signals) + list(self._parameters), 1)
            raise KeyError(f"no result '{name}'" + (f" (did you mean '{near[0]}'?)" if near else ""))
        return found

    def __getitem__(self, name: str) -> np.ndarray:
        if name == "time":
            return self.time
        if name in self._made:
            return self._made[name]
        found = self._find(name)
        if name not in self._signals:
            values = np.broadcast_to(np.float64(found[3]), self.time.shape)
        elif found[3] is None:
            values = np.broadcast_to(np.float64(found[4]), self.time.shape)
        else:
            values = self._columns[found[3]]
            if found[4] != 1.0:
                values = found[4] * values
        if name in self._absent:
            values = np.where(np.isin(self._mode, self._absent[name]), np.nan, values)
        self._made[name] = values
        return values

    def to_pandas(self) -> "pandas.DataFrame":
        """All signals by time, and the column ``mode``; units are in ``frame.attrs["units"]``."""
        import pandas

        frame = pandas.DataFrame({name: self[name] for name in self._signals}, copy=False)
        frame.index = pandas.Index(self.time, name="time")
        frame["mode"] = pandas.Categorical.from_codes(self._mode.astype(int), _distinct(self._mode_names))
        frame.attrs["units"] = {name: s[1] for name, s in self._signals.items() if s[1]}
        frame.attrs["descriptions"] = {name: s[2] for name, s in self._signals.items() if s[2]}
        return frame

    def to_xarray(self) -> "xarray.Dataset":
        """All signals over the dimension ``time``, with units and descriptions; parameters as attributes."""
        import xarray

        data = {}
        for name, signal in self._signals.items():
            about = {}
            if signal[1]:
                about["units"] = signal[1]
            if signal[2]:
                about["long_name"] = signal[2]
            data[name] = ("time", self[name], about)
        names = np.array(self._mode_names, dtype=object)
        modes = names[self._mode.astype(int)] if len(self) else np.empty(0, dtype=object)
        coordinates = {"time": ("time", self.time, {"units": "s"}), "mode": ("time", modes)}
        return xarray.Dataset(data, coords=coordinates, attrs=dict(self.parameters))

    def plot(self, *names: str, ax: Optional["matplotlib.axes.Axes"] = None) -> "matplotlib.axes.Axes":
        """Curves over time, with a band for each mode and a mark at each event."""
        import matplotlib.pyplot as plt

        if not names:
            raise Error("say what to plot, for example r.plot('w1')")
        if ax is None:
            ax = plt.figure().add_subplot()
        known: Dict[str, int] = {}
        for span in self.modes:
            number = known.setdefault(span.name, len(known))
            ax.axvspan(span.begin, span.end, color=f"C{number % 10}", alpha=0.08, linewidth=0)
        for event in self.events:
            ax.axvline(event.time, color="0.6", linewidth=0.6)
        for name in names:
            unit = self.unit(name)
            ax.plot(self.time, self[name], label=f"{name} [{unit}]" if unit else name)
        ax.set_xlabel("time [s]")
        ax.legend()
        return ax

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(m.name)}<td>{m.begin:.6g}<td>{m.end:.6g}" for m in self.modes[:50]
        )
        events = "".join(
            f"<tr><td>{e.time:.10g}<td>{html.escape(e.kind)}<td>{html.escape(e.source or '')}"
            f"<td>{html.escape(e.target or '')}"
            for e in self.events[:50]
        )
        return (
            f"<h3>{html.escape(self.summary['model'])}</h3><p>{html.escape(self.message)}</p>"
            f"<table><tr><th>mode<th>from, s<th>to, s{rows}</table>"
            f"<table><tr><th>event at, s<th>kind<th>from<th>to{events}</table>"
        )

    def __repr__(self) -> str:
        return (
            f"<saltus.Result {self.summary['model']}: {self.message}; {len(self)} points, "
            f"{len(self._signals)} signals, {len(self.summary['events'])} events>"
        )


def _distinct(names: List[str]) -> List[str]:
    """Categories must differ; modes of one name get a number."""
    seen: Dict[str, int] = {}
    result = []
    for name in names:
        count = seen[name] = seen.get(name, 0) + 1
        result.append(name if count == 1 else f"{name} ({count})")
    return result
