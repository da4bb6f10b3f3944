#!/usr/bin/python3
"""Saltus beside Siconos (Debian: python3-siconos) on three nonsmooth systems, in one run.

    benchmarks/siconos/compare.py PROGRAM        PROGRAM: build/release/saltus

Siconos advances by Moreau's time stepping: fixed steps, a complementarity problem in each. Saltus locates events. Both are
compared with solutions in closed form, piece by piece, that share nothing with either. The table shows error and processor
time of the loop alone (Saltus: steps and events without translation); the last lines, by how much Saltus is faster where its
error is no larger. The exit status is 1 if the two do not come to the same solution, or if Saltus is slower at equal error.
"""

import json
import math
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import siconos.kernel  # noqa: F401
except ImportError:
    sys.exit("this comparison needs Debian's package python3-siconos and its Python, /usr/bin/python3")
from siconos.kernel import (LCP, ComplementarityConditionNSL, EulerMoreauOSI, FirstOrderLinearDS, FirstOrderLinearTIR,
                            Interaction, LagrangianLinearTIDS, LagrangianLinearTIR, MoreauJeanOSI, NewtonImpactNSL,
                            NonSmoothDynamicalSystem, Relay, RelayNSL, TimeDiscretisation, TimeStepping)

GRAVITY = 9.81


def advance(simulation):
    begun = time.process_time()
    while simulation.hasNextEvent():
        simulation.computeOneStep()
        simulation.nextStep()
    return time.process_time() - begun


# ------------------------------------------------------------------ a chain of balls
# Four equal balls above each other; neighbours and the ground reflect with e = 0.9.
HEIGHTS = [1.0, 2.1, 3.5, 5.2]
RESTITUTION = 0.9
BALLS_STOP = 1.2


def balls_exact():
    x, v, t = list(HEIGHTS), [0.0] * 4, 0.0
    while True:
        # Neighbours approach with constant speed, the lowest falls on the ground.
        hits = [((v[0] + math.sqrt(v[0] ** 2 + 2 * GRAVITY * max(x[0], 0.0))) / GRAVITY, -1)]
        for i in range(3):
            closing = v[i] - v[i + 1]
            if closing > 0:
                hits.append(((x[i + 1] - x[i]) / closing, i))
        wait, which = min(h for h in hits if h[0] > 1e-12)
        step = min(wait, BALLS_STOP - t)
        x = [a + b * step - 0.5 * GRAVITY * step ** 2 for a, b in zip(x, v)]
        v = [b - GRAVITY * step for b in v]
        t += step
        if step < wait:
            return x
        if which < 0:
            v[0] = -RESTITUTION * v[0]
        else:
            mean, half = (v[which] + v[which + 1]) / 2, RESTITUTION * (v[which] - v[which + 1]) / 2
            v[which], v[which + 1] = mean - half, mean + half


def balls_siconos(h):
    ds = LagrangianLinearTIDS(np.array(HEIGHTS), np.zeros(4), np.eye(4))
    ds.setFExtPtr(-GRAVITY * np.ones(4))
    system = NonSmoothDynamicalSystem(0.0, BALLS_STOP)
    system.insertDynamicalSystem(ds)
    rows = [[1.0, 0.0, 0.0, 0.0]] + [[-1.0 if j == i else 1.0 if j == i + 1 else 0.0 for j in range(4)] for i in range(3)]
    for row in rows:
        system.link(Interaction(NewtonImpactNSL(RESTITUTION), LagrangianLinearTIR(np.array([row]))), ds)
    simulation = TimeStepping(system, TimeDiscretisation(0.0, h), MoreauJeanOSI(0.5), LCP())
    return advance(simulation), list(ds.q())


BALLS = """model Balls
  constant Real g = 9.81, e = 0.9;
  Real x[4](start = {1.0, 2.1, 3.5, 5.2}, each fixed = true), v[4](each start = 0, each fixed = true);
equation
  der(x) = v;
  der(v) = fill(-g, 4);
  when x[1] < 0 then reinit(v[1], -e*pre(v[1])); end when;
  when x[2] < x[1] then reinit(v[1], (pre(v[1]) + pre(v[2]) - e*(pre(v[1]) - pre(v[2])))/2);
    reinit(v[2], (pre(v[1]) + pre(v[2]) + e*(pre(v[1]) - pre(v[2])))/2); end when;
  when x[3] < x[2] then reinit(v[2], (pre(v[2]) + pre(v[3]) - e*(pre(v[2]) - pre(v[3])))/2);
    reinit(v[3], (pre(v[2]) + pre(v[3]) + e*(pre(v[2]) - pre(v[3])))/2); end when;
  when x[4] < x[3] then reinit(v[3], (pre(v[3]) + pre(v[4]) - e*(pre(v[3]) - pre(v[4])))/2);
    reinit(v[4], (pre(v[3]) + pre(v[4]) + e*(pre(v[3]) - pre(v[4])))/2); end when;
end Balls;
"""

# ------------------------------------------------------------------ a block on a belt
# x'' = -x - F sign(x' - u): it slips to and fro and sticks in the end.
FRICTION, BELT, BLOCK_START, BELT_STOP = 0.5, 0.3, 3.3, 10.0


def belt_exact():
    x, v, t = BLOCK_START, 0.0, 0.0
    while t < BELT_STOP:
        side = math.copysign(1.0, v - BELT) if v != BELT else -math.copysign(1.0, x)
        if v == BELT and abs(x) <= FRICTION:  # sticks until the spring is stronger
            step = min((FRICTION - x) / BELT, BELT_STOP - t)
            assert step == BELT_STOP - t, "the case is meant to end while it sticks"
            return [x + BELT * step, BELT]
        centre = -FRICTION * side
        a, b = x - centre, v  # x = centre + a cos s + b sin s, x' = b cos s - a sin s
        size, phase = math.hypot(a, b), math.atan2(a, b)  # x' = size cos(s + phase)
        wait = math.inf
        if size >= BELT:
            angle = math.acos(BELT / size)
            wait = min(w for w in ((sign * angle - phase) % (2 * math.pi) for sign in (1, -1)) if w > 1e-9)
        step = min(wait, BELT_STOP - t)
        x, v = centre + a * math.cos(step) + b * math.sin(step), b * math.cos(step) - a * math.sin(step)
        t += step
        if step == wait:
            v = BELT
    return [x, v]


def belt_siconos(h):
    ds = FirstOrderLinearDS(np.array([BLOCK_START, 0.0]), np.array([[0.0, 1.0], [-1.0, 0.0]]))
    relation = FirstOrderLinearTIR(np.array([[0.0, 1.0]]), np.array([[0.0], [FRICTION]]))
    relation.setePtr(np.array([-BELT]))
    system = NonSmoothDynamicalSystem(0.0, BELT_STOP)
    system.insertDynamicalSystem(ds)
    system.link(Interaction(RelayNSL(1), relation), ds)
    simulation = TimeStepping(system, TimeDiscretisation(0.0, h), EulerMoreauOSI(0.5), Relay())
    return advance(simulation), list(ds.x())


BLOCK = """model Belt
  Real x(start = 3.3, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -x - 0.5*sign(v - 0.3);
end Belt;
"""

# ------------------------------------------------------------------ a rectifier
# A resonant circuit feeds a resistor through four ideal diodes; the resistor sees |v|, so that the circuit sees a resistor.
INDUCTANCE, CAPACITANCE, RESISTANCE, BRIDGE_STOP = 1e-2, 1e-6, 1e3, 2e-3


def bridge_exact():
    damping = 1 / (2 * RESISTANCE * CAPACITANCE)
    omega = math.sqrt(1 / (INDUCTANCE * CAPACITANCE) - damping ** 2)
    # v' = -(i + v/R)/C, i' = v/L from v = 10, i = 0
    decay, s = math.exp(-damping * BRIDGE_STOP), omega * BRIDGE_STOP
    v = 10 * decay * (math.cos(s) - damping / omega * math.sin(s))
    i = 10 * decay / (INDUCTANCE * omega) * math.sin(s)
    return [v, i * math.sqrt(INDUCTANCE / CAPACITANCE)]


def bridge_siconos(h):
    c, r = CAPACITANCE, RESISTANCE
    ds = FirstOrderLinearDS(np.array([10.0, 0.0]), np.array([[0.0, -1 / c], [1 / INDUCTANCE, 0.0]]))
    # lambda: va, -vb (potentials of the load), currents of the diodes at n -> a and b -> p, with vn = 0.
    relation = FirstOrderLinearTIR(np.array([[0.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [1.0, 0.0]]),
                                   np.array([[0.0, 0.0, -1 / c, 1 / c], [0.0, 0.0, 0.0, 0.0]]))
    relation.setDPtr(np.array([[1 / r, 1 / r, -1.0, 0.0], [1 / r, 1 / r, 0.0, -1.0],
                               [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]))
    system = NonSmoothDynamicalSystem(0.0, BRIDGE_STOP)
    system.insertDynamicalSystem(ds)
    system.link(Interaction(ComplementarityConditionNSL(4), relation), ds)
    simulation = TimeStepping(system, TimeDiscretisation(0.0, h), EulerMoreauOSI(0.5), LCP())
    elapsed = advance(simulation)
    v, i = ds.x()
    return elapsed, [v, i * math.sqrt(INDUCTANCE / CAPACITANCE)]


BRIDGE = """model Bridge
  constant Real L = 1e-2, C = 1e-6, R = 1e3;
  Real v(start = 10, fixed = true), i(start = 0, fixed = true, nominal = 0.1);
  Real va, vb, s[4], u[4], j[4];
  Boolean off[4];
equation
  C*der(v) = -i - (j[1] - j[3]);
  L*der(i) = v;
  u = {v - va, -va, vb - v, vb};
  j[1] + j[2] = (va - vb)/R;
  j[3] + j[4] = (va - vb)/R;
  for k in 1:4 loop
    off[k] = s[k] < 0;
    u[k] = if off[k] then s[k] else 0;
    j[k] = if off[k] then 0 else s[k]/R;
  end for;
end Bridge;
"""


def saltus(program, text, stop, tolerance, names):
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/m.mo", "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run([program, "simulate", "m.mo", "--stop-time", repr(stop), "--tolerance", repr(tolerance), "--interval",
                        repr(stop), "--json", "m.json", "--quiet"], cwd=folder, check=True)
        with open(folder + "/m.json", encoding="utf-8") as file:
            summary = json.load(file)
    values = [summary["final"][name] * factor for name, factor in names]
    return summary["statistics"]["integrate_seconds"], values


def error_of(values, exact):
    size = max(abs(e) for e in exact)
    return max(abs(v - e) for v, e in zip(values, exact)) / size


CASES = [
    ("chain of balls", balls_exact(), balls_siconos, [1e-3, 1e-4, 1e-5], BALLS, BALLS_STOP,
     [(f"x[{k}]", 1.0) for k in range(1, 5)]),
    ("block on a belt", belt_exact(), belt_siconos, [1e-2, 1e-3, 1e-4], BLOCK, BELT_STOP, [("x", 1.0), ("v", 1.0)]),
    ("rectifier", bridge_exact(), bridge_siconos, [2e-6, 2e-7, 2e-8], BRIDGE, BRIDGE_STOP,
     [("v", 1.0), ("i", math.sqrt(INDUCTANCE / CAPACITANCE))]),
]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    failed = False
    print(f"{'case':<16} {'solver':<8} {'setting':>9} {'error':>9} {'loop, s':>9}")
    verdicts = []
    for name, exact, siconos, steps, text, stop, names in CASES:
        theirs, ours = [], []
        for h in steps:
            elapsed, values = siconos(h)
            theirs.append((error_of(values, exact), elapsed))
            print(f"{name:<16} {'siconos':<8} {'h=%g' % h:>9} {theirs[-1][0]:9.1e} {elapsed:9.2e}")
        for tolerance in (1e-3, 1e-4, 1e-6, 1e-8):
            elapsed, values = saltus(sys.argv[1], text, stop, tolerance, names)
            ours.append((error_of(values, exact), elapsed))
            print(f"{name:<16} {'saltus':<8} {'%g' % tolerance:>9} {ours[-1][0]:9.1e} {elapsed:9.2e}")
        same = theirs[-1][0] < 1e-2 and theirs[-1][0] < theirs[0][0] and ours[-1][0] < 1e-6
        for their_error, their_time in theirs:
            at_least = [t for e, t in ours if e <= their_error]
            if not at_least:
                continue
            ratio = their_time / min(at_least)
            verdicts.append(f"{name}: at error {their_error:.1e} Saltus takes 1/{ratio:.3g} of the time of Siconos")
        same = same and bool(at_least) and ratio >= 1.0
        failed = failed or not same
    print("\n".join(verdicts))
    sys.exit(1 if failed else 0)


main()
