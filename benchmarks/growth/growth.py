#!/usr/bin/env python3
"""How the work of a run grows with the size of a model.

Each family below writes a model of any size n as Modelica text. The program runs it at a few sizes,
instructions are counted by callgrind (or, with --seconds, processor time is taken), an exponent is
fitted through the two largest sizes, and those above the limit of a family make the exit status 1.
Families whose number of events grows with n are judged per event.

    growth.py --program build/release/saltus               all families
    growth.py --program ... --family chain --family balls  some
    growth.py --program ... --seconds --sizes 100,400      quick look, on an idle machine
    growth.py --write DIR --sizes 100                      only the models
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

LIMIT = 1.2


def chain(n):
    """Inertias and spring-dampers whose law names the twist and its rate."""
    return f"""model chain
  parameter Integer n = {n};
  Real phi[n](each start = 0), w[n](each start = 0);
  Real tau[n + 1];
  Real r[n - 1], wr[n - 1];
equation
  for i in 1:n loop
    der(phi[i]) = w[i];
    0.1 * der(w[i]) = tau[i] - tau[i + 1];
  end for;
  for i in 1:n - 1 loop
    r[i] = phi[i + 1] - phi[i];
    wr[i] = der(r[i]);
    tau[i + 1] = -(100 * r[i] + 0.5 * wr[i]);
  end for;
  tau[1] = sin(time);
  tau[n + 1] = 0;
  annotation(experiment(StopTime = 0.2, Tolerance = 1e-4));
end chain;
""", "steps"


def flanges(n):
    """The same chain made of components with flanges."""
    return f"""package flanges
  connector Flange
    Real phi;
    flow Real tau;
  end Flange;
  model Inertia
    Flange a, b;
    Real phi(start = 0, fixed = true), w(start = 0, fixed = true);
    parameter Real J = 0.1;
  equation
    a.phi = phi;
    b.phi = phi;
    der(phi) = w;
    J * der(w) = a.tau + b.tau;
  end Inertia;
  model Spring
    Flange a, b;
    Real phi_rel, w_rel;
    parameter Real c = 100, d = 0.5;
  equation
    phi_rel = b.phi - a.phi;
    w_rel = der(phi_rel);
    b.tau = c * phi_rel + d * w_rel;
    a.tau + b.tau = 0;
  end Spring;
  model Drive
    Flange b;
  equation
    b.tau = -sin(time);
  end Drive;
  model Chain
    parameter Integer n = {n};
    Inertia inertia[n];
    Spring spring[n - 1];
    Drive drive;
  equation
    connect(drive.b, inertia[1].a);
    for i in 1:n - 1 loop
      connect(inertia[i].b, spring[i].a);
      connect(spring[i].b, inertia[i + 1].a);
    end for;
    annotation(experiment(StopTime = 0.2, Tolerance = 1e-4));
  end Chain;
end flanges;
""", "steps"


def clutches(n):
    """A row of shafts; clutch i between neighbours locks for good at time i / n."""
    return f"""model clutches
  parameter Integer n = {n};
  Real w[n + 1](start = {{i for i in 1:n + 1}}, each fixed = true);
  Real tau[n];
  Boolean locked[n](each start = false, each fixed = true);
equation
  der(w[1]) = 1 - tau[1];
  for i in 2:n loop
    der(w[i]) = tau[i - 1] - tau[i];
  end for;
  der(w[n + 1]) = tau[n];
  for i in 1:n loop
    when time > i / (n + 1) then
      locked[i] = true;
    end when;
    if locked[i] then
      w[i] = w[i + 1];
    else
      tau[i] = 0.1 * (w[i] - w[i + 1]);
    end if;
  end for;
  annotation(experiment(StopTime = 1, Tolerance = 1e-4));
end clutches;
""", "events"


def apart(n):
    """The same as clutches, in n pairs that know nothing of each other."""
    return f"""model apart
  parameter Integer n = {n};
  Real a[n](start = {{i for i in 1:n}}, each fixed = true), b[n](each start = 0, each fixed = true);
  Real tau[n];
  Boolean locked[n](each start = false, each fixed = true);
equation
  for i in 1:n loop
    der(a[i]) = 1 - tau[i];
    der(b[i]) = tau[i];
    when time > i / (n + 1) then
      locked[i] = true;
    end when;
    if locked[i] then
      a[i] = b[i];
    else
      tau[i] = 0.1 * (a[i] - b[i]);
    end if;
  end for;
  annotation(experiment(StopTime = 1, Tolerance = 1e-4));
end apart;
""", "events"


def balls(n):
    """Bouncing balls, each with its height and restitution."""
    return f"""model balls
  parameter Integer n = {n};
  Real h[n](start = {{1 + i / n for i in 1:n}}, each fixed = true);
  Real v[n](each start = 0, each fixed = true);
equation
  for i in 1:n loop
    der(h[i]) = v[i];
    der(v[i]) = -9.81;
    when h[i] < 0 then
      reinit(v[i], -0.8 * pre(v[i]));
    end when;
  end for;
  annotation(experiment(StopTime = 1, Tolerance = 1e-6));
end balls;
""", "events"


def diodes(n):
    """Half-wave rectifiers with an ideal diode each, at one source with a phase each."""
    return f"""model diodes
  parameter Integer n = {n};
  Real s[n], u[n], i[n], c[n](each start = 0, each fixed = true);
  Boolean off[n];
equation
  for k in 1:n loop
    off[k] = s[k] < 0;
    u[k] = if off[k] then s[k] else 0;
    i[k] = if off[k] then 0 else s[k];
    sin(6.28 * time + 3.0 * k / n) = 0.1 * i[k] + u[k] + c[k];
    der(c[k]) = i[k] - c[k];
  end for;
  annotation(experiment(StopTime = 1, Tolerance = 1e-4));
end diodes;
""", "events"


def whens(n):
    """One state passes n thresholds, each with a when-clause of its own."""
    return f"""model whens
  parameter Integer n = {n};
  Real x(start = 0, fixed = true);
  discrete Real seen[n](each start = 0, each fixed = true);
equation
  der(x) = 1;
  for i in 1:n loop
    when x > i / (n + 1) then
      seen[i] = time;
    end when;
  end for;
  annotation(experiment(StopTime = 1, Tolerance = 1e-6));
end whens;
""", "events"


def circuit(n):
    """A ladder of nonlinear resistors without a state, started from zero."""
    return f"""model circuit
  parameter Integer n = {n};
  Real v[n + 1], i[n], j[n];
  Real x(start = 0, fixed = true);
equation
  der(x) = v[n + 1] - x;
  v[1] = 5 + sin(time);
  for k in 1:n loop
    v[k] - v[k + 1] = 0.1 * i[k] + 0.01 * i[k] ^ 3;
    j[k] = 0.01 * v[k + 1] + 0.001 * v[k + 1] ^ 3;
    if k < n then
      i[k] = i[k + 1] + j[k];
    else
      i[k] = j[k];
    end if;
  end for;
  annotation(experiment(StopTime = 0.2, Tolerance = 1e-4));
end circuit;
""".replace("    if k < n then\n      i[k] = i[k + 1] + j[k];\n    else\n      i[k] = j[k];\n    end if;\n",
            "    i[k] = (if k < n then i[min(k + 1, n)] else 0) + j[k];\n"), "steps"


def causal(n):
    """Each unknown follows from the one before; the first from the time."""
    return f"""model causal
  parameter Integer n = {n};
  Real x[n];
  Real y(start = 0, fixed = true);
equation
  der(y) = x[n] - y;
  x[1] = 1 + 0.1 * time;
  for i in 2:n loop
    x[i] = sin(x[i - 1]) + 1;
  end for;
  annotation(experiment(StopTime = 0.2, Tolerance = 1e-4));
end causal;
""", "steps"


def heat(n):
    """Cells that conduct heat: one state each, no events. Reading and analysis dominate."""
    return f"""model heat
  parameter Integer n = {n};
  Real T[n](each start = 0, each fixed = true), q[n + 1];
equation
  q[1] = 1 + sin(time) - T[1];
  for i in 2:n loop
    q[i] = T[i - 1] - T[i];
  end for;
  q[n + 1] = 0;
  for i in 1:n loop
    der(T[i]) = q[i] - q[i + 1] - 0.1 * T[i] ^ 3;
  end for;
  annotation(experiment(StopTime = 0.2, Tolerance = 1e-4));
end heat;
""", "steps"


def relays(n):
    """Heaters with hysteresis of their own: n relations of states, many events."""
    return f"""model relays
  parameter Integer n = {n};
  Real T[n](start = {{i / n for i in 1:n}}, each fixed = true);
  Boolean on[n](each start = true, each fixed = true);
equation
  for i in 1:n loop
    der(T[i]) = (if on[i] then 3 else 0) - T[i];
    on[i] = T[i] < 1 or pre(on[i]) and T[i] < 2;
  end for;
  annotation(experiment(StopTime = 1, Tolerance = 1e-5));
end relays;
""", "events"


def samples(n):
    """One state, a sampled controller, n samples."""
    return f"""model samples
  Real x(start = 1, fixed = true);
  discrete Real u(start = 0, fixed = true);
equation
  der(x) = -x + u;
  when sample(0, 0.001) then
    u = 0.5 - 0.1 * x;
  end when;
  annotation(experiment(StopTime = {n / 1000}, Tolerance = 1e-6));
end samples;
""", "total"


def hysteresis(n):
    """One thermostat for n seconds, 7 switches a second."""
    return f"""model hysteresis
  Real T(start = 0.5, fixed = true);
  Boolean on(start = true, fixed = true);
equation
  der(T) = (if on then 10 else 0) - 2 * T;
  on = T < 1 or pre(on) and T < 2;
  annotation(experiment(StopTime = {n / 7}, Tolerance = 1e-6));
end hysteresis;
""", "total"


def sines(n):
    """A guard of time alone that passes zero n times."""
    return f"""model sines
  Real x(start = 0, fixed = true);
equation
  der(x) = (if sin(100 * time) > 0 then 1 else -1) - x;
  annotation(experiment(StopTime = {n * math.pi / 100}, Tolerance = 1e-6));
end sines;
""", "total"


# family: sizes for counting
FAMILIES = {
    chain: (100, 400, 1600),
    flanges: (100, 400, 1600),
    clutches: (25, 50, 100),
    apart: (25, 50, 100),
    balls: (50, 100, 200),
    diodes: (25, 50, 100),
    whens: (125, 500, 2000),
    circuit: (33, 100, 300, 1000),
    causal: (100, 1000, 4000),
    heat: (100, 1000, 10000),
    relays: (50, 100, 200),
    samples: (1000, 10000),
    hysteresis: (100, 1000),
    sines: (100, 1000),
}


def run(program, path, how, extra=()):
    """Instructions (or seconds) of one run, peak memory in MB, the statistics."""
    summary = path + ".json"
    command = [program, "simulate", path, "--json", summary, "--quiet", *extra]
    counts = path + ".callgrind"
    if how == "instructions":
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", *command]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    text = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        return None, usage.ru_maxrss / 1024, {"message": text[-300:]}
    with open(summary) as file:
        statistics = json.load(file)["statistics"]
    os.remove(summary)
    amount = usage.ru_utime + usage.ru_stime
    if how == "instructions":
        with open(counts) as file:
            amount = float(re.search(r"^(?:totals|summary): (\d+)", file.read(), re.M).group(1))
        os.remove(counts)
    return amount, usage.ru_maxrss / 1024, statistics


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/saltus")
    parser.add_argument("--family", action="append")
    parser.add_argument("--sizes", help="instead of those of the families")
    parser.add_argument("--seconds", action="store_true", help="processor time, not instructions")
    parser.add_argument("--write", metavar="DIR", help="write the models and end")
    parser.add_argument("--max-seconds", default="600")
    arguments = parser.parse_args()

    def chosen(family):
        return arguments.family is None or family.__name__ in arguments.family

    folder = arguments.write or tempfile.mkdtemp(prefix="saltus_growth")
    os.makedirs(folder, exist_ok=True)
    how = "seconds" if arguments.seconds else "instructions"
    over = []
    for family, sizes in FAMILIES.items():
        if not chosen(family):
            continue
        if arguments.sizes:
            sizes = [int(size) for size in arguments.sizes.split(",")]
        points = []
        for n in sizes:
            text, per = family(n)
            path = os.path.join(folder, f"{family.__name__}_{n}.mo")
            with open(path, "w") as file:
                file.write(text)
            if arguments.write:
                continue
            target = path + ":flanges.Chain" if family is flanges else path
            amount, memory, statistics = run(arguments.program, target, how,
                                             ("--max-seconds", arguments.max_seconds))
            if amount is None:
                print(f"{family.__name__:12} {n:7}  stopped: {statistics['message']}", flush=True)
                over.append(family.__name__)
                break
            events = max(1, statistics["events"])
            per_what = {"steps": amount, "events": amount / events, "total": amount}[per]
            points.append((n, per_what))
            exponent = ""
            if len(points) > 1:
                (n0, a0), (n1, a1) = points[-2:]
                exponent = f"{math.log(a1 / a0) / math.log(n1 / n0):5.2f}"
            parts = " ".join(f"{key[:-8]} {value:.3g}" for key, value in statistics.items()
                             if key.endswith("_seconds"))
            print(f"{family.__name__:12} {n:7} {amount:10.3g} {how} {memory:7.0f} MB "
                  f"{events:6} events {statistics['steps']:6} steps"
                  f" {statistics['factorizations']:6} fact. exponent {exponent:5}  {parts}",
                  flush=True)
        if len(points) > 1 and float(exponent) > LIMIT:
            over.append(family.__name__)
    if over:
        print(f"grow faster than n^{LIMIT}: {', '.join(over)}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
