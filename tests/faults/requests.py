#!/usr/bin/env python3
"""Requests to `saltus serve` that are wrong: each is answered by a line of JSON that says so in words,
and the next one is answered as well. Usage: requests.py path/to/saltus [COUNT [SEED]]"""
import copy
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

SYSTEM = {
    "name": "ball",
    "parameters": [{"name": "g", "value": 9.81}],
    "variables": [{"name": "x", "start": "1", "fixed": True, "nominal": 1.0}, {"name": "v", "start": "0", "fixed": True}],
    "modes": [{"name": "flight", "equations": ["der(x) = v", "der(v) = -g"],
               "guards": [{"name": "ground", "value": "-x", "to": "flight", "priority": 1, "set": {"v": "-0.8*v"}}]}],
    "initial_mode": "flight",
}
VALUES = [None, True, -1, 0, 1e308, float("inf"), float("nan"), 10**30, "", "x", "a" * 5000, [], {}, [[]], {"a": {}}, "\0",
          "/nosuch/x", "../..", "der(", "((((", "x+", "1e400", "time", "if x>0 then 1 else 2", "x/0", "$x", "'", '"', [1, 2]]
RAW = ["json.exception", "std::", "_M_", "vector::", "bad_", "what()", "stod"]


def places_in(node):
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield node, key
        yield from places_in(value)


def mutated(request, rng):
    request = copy.deepcopy(request)
    for _ in range(rng.randint(1, 3)):
        places = list(places_in(request))
        if not places:
            break
        node, key = rng.choice(places)
        kind = rng.random()
        if kind < 0.6:
            node[key] = copy.deepcopy(rng.choice(VALUES))
        elif kind < 0.8:
            del node[key]
        elif isinstance(node, dict):
            node[rng.choice(["x", "do", "name", ""])] = copy.deepcopy(rng.choice(VALUES))
        else:
            node.append(copy.deepcopy(node[key]))
    return request


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "points").touch()
        requests = [
            {"do": "load", "system": SYSTEM},
            {"do": "simulate", "parameters": {"g": 9.0}, "options": {"tolerance": 1e-6, "stop_time": 1.0, "method": "radau"},
             "points": folder + "/points"},
            {"do": "analyze"},
            {"do": "linearize", "at": 0.1, "inputs": ["g"], "outputs": ["x"], "parameters": {}, "options": {}},
            {"do": "steady", "at": 0.0, "longest": 1.0, "parameters": {}, "options": {}},
            {"do": "load", "model": "ball", "settings": {}, "inputs": {}, "libraries": []},
        ]
        for number in range(count):
            lines = []
            for request in [requests[0]] + [rng.choice(requests) for _ in range(3)]:
                line = json.dumps(mutated(request, rng) if rng.random() < 0.6 else request)
                if rng.random() < 0.1:
                    line = line[: rng.randint(0, len(line))]
                lines.append(line if line.strip() else "{")
            run = subprocess.run([sys.argv[1], "serve"], input="\n".join(lines) + "\n", cwd=folder, capture_output=True,
                                 text=True, errors="replace", timeout=120)
            answers = run.stdout.splitlines()
            problem = None
            if run.returncode != 0 or len(answers) != len(lines):
                problem = f"exit {run.returncode}, {len(answers)} answers to {len(lines)} requests: {run.stderr[:200]}"
            for answer in answers:
                message = json.loads(answer).get("error", {}).get("message", "fine")
                if not message or any(word in message for word in RAW):
                    problem = f"raw text: {answer[:300]}"
            if problem:
                failures += 1
                print(f"FAILED: round {number}: {problem}", *lines, sep="\n  ")
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
