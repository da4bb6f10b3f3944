#!/usr/bin/env python3
"""Random models whose solution is known, in every method and at several tolerances.

The equations are made so that given functions of time satisfy them, or are linear with given
eigenvalues. Right is an end of the run with an error of at most 100 tolerances, or a status other
than 0 with a message. Everything else is a wrong answer without a word, and fails.

Usage: exact_solutions.py path/to/saltus [--seeds FROM:TO] [--kind KIND] [--show SEED] [--refusals]
"""
import argparse
import json
import math
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

METHODS = ["radau", "bdf", "derivative-array", "half-explicit"]
TOLERANCES = [1e-3, 1e-6, 1e-9]
ALLOWED = 100.0  # tolerances
STOP = 2.0
MAY_REFUSE = {("pencil", "half-explicit")}


class Given:
    """A smooth function of time: its text and its value, for the derivative of any order."""

    def __init__(self, rng):
        self.terms = [
            (rng.choice(["sin", "cos", "exp"]), round(rng.uniform(0.2, 1.5), 3), round(rng.uniform(0.3, 4), 3))
            for _ in range(rng.randint(1, 2))
        ]
        self.slope = round(rng.uniform(-1, 1), 3)
        self.constant = round(rng.uniform(-1, 1), 3)

    def value(self, t, order=0):
        total = (self.constant + self.slope * t, self.slope)[order] if order < 2 else 0.0
        for name, a, w in self.terms:
            if name == "exp":
                total += a * (-w) ** order * math.exp(-w * t)
            else:
                shift = order * math.pi / 2
                total += a * w**order * (math.sin if name == "sin" else math.cos)(w * t + shift)
        return total

    def text(self, order=0):
        parts = [[f"{self.constant!r} + {self.slope!r}*time", f"{self.slope!r}"][order] if order < 2 else "0"]
        for name, a, w in self.terms:
            if name == "exp":
                parts.append(f"{a * (-w) ** order!r}*exp(-{w!r}*time)")
                continue
            names = ["sin", "cos"] if name == "sin" else ["cos", "-sin"]
            sign = [1, 1, -1, -1][order % 4]
            trig = names[order % 2]
            if trig.startswith("-"):
                trig, sign = trig[1:], -sign
            parts.append(f"{sign * a * w**order!r}*{trig}({w!r}*time)")
        return "(" + " + ".join(parts) + ")"


class Model:
    def __init__(self, name):
        self.name, self.declared, self.equations, self.exact, self.level = name, [], [], {}, {}

    def add(self, name, exact, start=None, level=0):
        fixed = "" if start is None else f"(start = {start!r}, fixed = true)"
        self.declared.append(f"  Real {name}{fixed};")
        self.exact[name], self.level[name] = exact, level

    def text(self, rng):
        rng.shuffle(self.equations)
        lines = [f"model {self.name}", *self.declared, "equation", *(f"  {e};" for e in self.equations)]
        text = "\n".join(lines) + f"\nend {self.name};\n"
        return re.sub(r"([-+*/] ?)(-\d[\d.]*(?:e-?\d+)?)", r"\1(\2)", text)


def solve(matrix, right):
    """Gauss with pivots; right is a list of columns by row."""
    n = len(matrix)
    rows = [list(matrix[i]) + list(right[i]) for i in range(n)]
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(rows[i][k]))
        if abs(rows[p][k]) < 0.05:
            return None
        rows[k], rows[p] = rows[p], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k])]
    return [row[n:] for row in rows]


def linear(rng, stiff):
    model = Model("Linear")
    blocks = []  # (real part, imaginary part)
    for _ in range(rng.randint(1, 3)):
        fast = stiff and rng.random() < 0.6
        real = -(10 ** rng.uniform(2, 6)) if fast else rng.uniform(-4, 0.3)
        blocks.append((real, rng.uniform(0.5, 15) if rng.random() < 0.5 and not fast else 0.0))
    n = sum(2 if w else 1 for _, w in blocks)
    basis = inverse = None
    while inverse is None:
        basis = [[round(rng.uniform(-1, 1) + 2 * (i == j), 2) for j in range(n)] for i in range(n)]
        inverse = solve(basis, [[float(i == j) for j in range(n)] for i in range(n)])
    core = [[0.0] * n for _ in range(n)]
    ways = []
    k = 0
    for real, imaginary in blocks:
        amplitude = rng.uniform(0.3, 1)
        core[k][k] = real
        if imaginary:
            core[k + 1][k + 1] = real
            core[k][k + 1], core[k + 1][k] = imaginary, -imaginary
            ways.append(lambda t, r=real, w=imaginary, a=amplitude: a * math.exp(r * t) * math.cos(w * t))
            ways.append(lambda t, r=real, w=imaginary, a=amplitude: -a * math.exp(r * t) * math.sin(w * t))
            k += 2
        else:
            ways.append(lambda t, r=real, a=amplitude: a * math.exp(r * t))
            k += 1
    # The equations read w = inverse x, so that no digits are lost in a product of matrices.
    if stiff:
        for i in range(n):
            model.add(f"w{i}", ways[i])
            sum_ = " + ".join(f"{basis[i][j]!r}*w{j}" for j in range(n))
            model.equations.append(f"x{i} = {sum_}")
    for i in range(n):
        def exact(t, i=i):
            return sum(basis[i][j] * ways[j](t) for j in range(n))
        model.add(f"x{i}", exact, exact(0.0))
        if stiff:
            slopes = [" + ".join(f"{core[j][l]!r}*w{l}" for l in range(n) if core[j][l]) for j in range(n)]
            model.equations.append(f"der(x{i}) = " + " + ".join(f"{basis[i][j]!r}*({slopes[j]})" for j in range(n)))
        else:
            row = [sum(basis[i][a] * core[a][b] * inverse[b][j] for a in range(n) for b in range(n)) for j in range(n)]
            model.equations.append(f"der(x{i}) = " + " + ".join(f"{row[j]!r}*x{j}" for j in range(n)))
    return model


def coupling(rng, names):
    """A bounded nonlinear function of the named unknowns, as a template."""
    parts = []
    for _ in range(rng.randint(1, 3)):
        a, b = rng.choice(names), rng.choice(names)
        c = round(rng.uniform(-0.8, 0.8), 2)
        form = rng.choice(["{c}*sin({a})", "{c}*{a}*{b}/(1 + {b}^2)", "{c}*tanh({a} - {b})", "{c}*atan({a}*{b})",
                           "{c}*{a}/sqrt(1 + {a}^2)", "{c}*exp(-{a}^2)"])
        parts.append(form.replace("{c}", repr(c)).replace("{a}", "<" + a + ">").replace("{b}", "<" + b + ">"))
    return " + ".join(parts)


def fill(template, texts):
    for name, text in texts.items():
        template = template.replace("<" + name + ">", text)
    return template


def nonlinear(rng, index):
    model = Model("Nonlinear")
    n = rng.randint(2, 4)
    states = [f"x{i}" for i in range(n)]
    algebraic = [f"y{i}" for i in range(rng.randint(1, 3))] if index >= 1 else []
    given = {name: Given(rng) for name in states + algebraic}
    own = {name: name for name in given}
    texts = {name: f.text() for name, f in given.items()}
    forces = [f"f{i}" for i in range(rng.randint(1, n - 1))] if index >= 2 else []
    for name in forces:
        given[name] = Given(rng)
    if index < 3:
        for name in states:
            h = coupling(rng, states + algebraic)
            damping = round(10 ** rng.uniform(-1, 4 if rng.random() < 0.2 else 1), 3)
            # Against a force that keeps a constraint, damping can make the others unstable.
            if states.index(name) < len(forces):
                damping = min(damping, 0.5)
            push = "".join(f" + {c!r}*({f} - {given[f].text()})" for f in forces
                           for c in [round(rng.uniform(-0.4, 0.4), 2)])
            # The first unknowns feel a force of their own, so that the forces are determined.
            place = states.index(name)
            if place < len(forces):
                push += f" + 3*({forces[place]} - {given[forces[place]].text()})"
            model.equations.append(f"der({name}) = {fill(h, own)} - ({fill(h, texts)}) - {damping!r}*({name} - "
                                   f"{texts[name]}) + {given[name].text(1)}{push}")
    else:
        for name in states:
            h = coupling(rng, states)
            place = states.index(name)
            push = f" + 2*({forces[place]} - {given[forces[place]].text()})" if place < len(forces) else ""
            push += "".join(f" + {c!r}*({f} - {given[f].text()})" for f in forces
                            for c in [round(rng.uniform(-0.3, 0.3), 2)])
            model.equations.append(f"der({name}) = v{name}")
            model.equations.append(f"der(v{name}) = {fill(h, own)} - ({fill(h, texts)}) - ({name} - {texts[name]}) - "
                                   f"1.3*(v{name} - {given[name].text(1)}) + {given[name].text(2)}{push}")
    for place, f in enumerate(forces):
        # A constraint that the given functions satisfy, with a clear dependence on one unknown.
        free = states[len(forces):]
        h = coupling(rng, free)
        name = states[place]
        model.equations.append(f"2*{name} + {fill(h, own)} = 2*{texts[name]} + {fill(h, texts)}")
    for name in algebraic:
        h = coupling(rng, states + algebraic)
        model.equations.append(f"4*{name} + 0.5*sin({name}) + {fill(h, own)} = 4*{texts[name]} + 0.5*sin({texts[name]}) + "
                               f"{fill(h, texts)}")
    for place, name in enumerate(states):
        free = place >= len(forces)
        model.add(name, given[name].value, given[name].value(0.0) if free else None)
        if index == 3:
            model.add("v" + name, lambda t, g=given[name]: g.value(t, 1), given[name].value(0.0, 1) if free else None, 1)
    for name in algebraic:
        model.add(name, given[name].value)
    for name in forces:
        model.add(name, given[name].value, None, index - 1)
    return model


def pencil(rng):
    """Dense singular E, hidden from the structure: E = P diag(I, N) Q, A = P diag(J, I) Q."""
    model = Model("Pencil")
    d, sizes = rng.randint(1, 2), [rng.randint(1, 3) for _ in range(rng.randint(1, 2))]
    n = d + sum(sizes)
    left = right = None
    identity = [[float(i == j) for j in range(n)] for i in range(n)]
    def regular():
        while True:
            m = [[rng.choice([-1, 0, 0, 1, 2]) + 3 * (i == j) for j in range(n)] for i in range(n)]
            if solve(m, identity) is not None:
                return m
    left, right = regular(), regular()
    e = [[float(i == j and i < d) for j in range(n)] for i in range(n)]
    a = [[float(i == j and i >= d) for j in range(n)] for i in range(n)]
    for i in range(d):
        a[i][i] = float(rng.choice([-3, -2, -1, 0]))
    k = d
    for size in sizes:
        for i in range(size - 1):
            e[k + i][k + i + 1] = 1.0
        k += size
    def product(p, q):
        return [[sum(p[i][l] * q[l][j] for l in range(n)) for j in range(n)] for i in range(n)]
    e, a = product(product(left, e), right), product(product(left, a), right)
    given = [Given(rng) for _ in range(n)]
    for j in range(n):
        model.add(f"x{j}", given[j].value, None, max(sizes) - 1)
    for i in range(n):
        def side(slope, value):
            return (" + ".join(f"{e[i][j]!r}*{slope(j)}" for j in range(n) if e[i][j]) or "0",
                    " + ".join(f"{a[i][j]!r}*{value(j)}" for j in range(n) if a[i][j]) or "0")
        own = side(lambda j: f"der(x{j})", lambda j: f"x{j}")
        known = side(lambda j: given[j].text(1), lambda j: given[j].text())
        model.equations.append(f"{own[0]} = {own[1]} + ({known[0]}) - ({known[1]})")
    # What is free at the start: the first d rows of right x.
    model.free = [(" + ".join(f"{float(right[i][j])!r}*x{j}" for j in range(n) if right[i][j]),
                   sum(right[i][j] * given[j].value(0.0) for j in range(n))) for i in range(d)]
    return model


KINDS = {
    "linear": lambda rng: linear(rng, False),
    "stiff": lambda rng: linear(rng, True),
    "nonlinear": lambda rng: nonlinear(rng, 0),
    "index1": lambda rng: nonlinear(rng, 1),
    "index2": lambda rng: nonlinear(rng, 2),
    "index3": lambda rng: nonlinear(rng, 3),
    "pencil": pencil,
}


def make(kind, seed):
    rng = random.Random(f"{kind} {seed}")
    model = KINDS[kind](rng)
    text = model.text(rng)
    if free := getattr(model, "free", None):
        lines = "\n".join(f"  {left} = {right!r};" for left, right in free)
        lines = re.sub(r"([-+] )(-[\d.]+)", r"\1(\2)", lines)
        text = text.replace("\nequation\n", f"\ninitial equation\n{lines}\nequation\n")
    return model, text


def judge(model, final, tolerance):
    """The worst error, in units of what is allowed."""
    worst = (0.0, "")
    for name, exact in model.exact.items():
        size = max(1.0, max(abs(exact(STOP * k / 50)) for k in range(51)))
        allowed = ALLOWED * tolerance * size
        value = final.get(name)
        error = math.inf if value is None else abs(value - exact(STOP)) / allowed
        worst = max(worst, (error, f"{name} = {value}, exact {exact(STOP)}"))
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("saltus", type=Path)
    parser.add_argument("--seeds", default="0:4")
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--show", type=int)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--refusals", action="store_true", help="print the messages of runs that stop")
    options = parser.parse_args()
    if options.show is not None:
        print(make(options.kind, options.show)[1])
        return 0
    first, last = map(int, options.seeds.split(":"))
    failures, counts = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "model.mo", Path(folder) / "out.json"
        for kind in [options.kind] if options.kind else KINDS:
            for seed in range(first, last):
                model, text = make(kind, seed)
                path.write_text(text)
                for method in options.methods.split(","):
                    for tolerance in TOLERANCES:
                        out.unlink(missing_ok=True)
                        command = [options.saltus, "simulate", path, "--stop-time", str(STOP), "--tolerance",
                                   str(tolerance), "--method", method, "--json", out, "--quiet", "--max-seconds", "60"]
                        run = subprocess.run(command, capture_output=True, text=True, timeout=300)
                        label = f"{kind} {seed} {method} {tolerance:g}"
                        right, refused = counts.get((kind, method), (0, 0))
                        if run.returncode == 0:
                            error, where = judge(model, json.loads(out.read_text())["final"], tolerance)
                            if error <= 1.0:
                                counts[kind, method] = right + 1, refused
                                continue
                            print(f"WRONG {label}: {error * ALLOWED:.3g} tolerances: {where}", run.stderr[:300])
                            failures += 1
                        elif run.returncode in (1, 2) and "error: " in run.stderr:
                            counts[kind, method] = right, refused + 1
                            if options.refusals:
                                print(f"refused {label}: {run.stderr[run.stderr.index('error: '):][:300]}")
                        else:
                            print(f"FAILED {label}: exit {run.returncode}: {run.stderr[:300]}")
                            failures += 1
                        sys.stdout.flush()
    for (kind, method), (right, refused) in counts.items():
        print(f"{kind:10} {method:17} {right:4} right, {refused:4} refused")
        # A program that refuses everything is never wrong.
        if (kind, method) not in MAY_REFUSE and refused > 0.1 * (right + refused):
            print(f"FAILED {kind} {method}: too many are refused")
            failures += 1
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
