#!/usr/bin/env python3
"""Uses `saltus studio` as its page does, and as somebody who should not. Usage: studio_test.py SALTUS"""
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

failures = 0


def expect(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAILED:", what)


with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder) / "models"
    root.mkdir()
    (root / "Decay.mo").write_text(
        "model Decay parameter Real k = 1; Real x(start = 1, fixed = true);"
        " equation der(x) = -k*x; end Decay;")
    (root / "Long.mo").write_text(
        "model Long Real x(start = 0, fixed = true); equation der(x) = sin(time);"
        " annotation(experiment(StopTime = 1e9, Interval = 1000)); end Long;")
    (pathlib.Path(folder) / "secret.mo").write_text("model Secret Real x = 1; end Secret;")
    os.symlink(pathlib.Path(folder) / "secret.mo", root / "link.mo")
    studio = subprocess.Popen([sys.argv[1], "studio", str(root)], stdout=subprocess.PIPE, text=True)
    studio.stdout.readline()
    address = studio.stdout.readline().strip()
    host, token = address.removeprefix("http://").split("/?token=")

    def ask(path, body=None, headers=None):
        connection = http.client.HTTPConnection(host, timeout=60)
        headers = {"X-Saltus-Token": token} if headers is None else headers
        connection.request("POST" if body is not None else "GET", path,
                           json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    # Who may ask.
    expect(ask("/", headers={})[0] == 403, "no token")
    expect(ask("/api/runs", headers={"X-Saltus-Token": token[:-1] + "x"})[0] == 403, "a wrong token")
    expect(ask(f"/?token={token}", headers={})[0] == 200, "the printed address")
    expect(ask("/", headers={"X-Saltus-Token": token, "Host": "example.org"})[0] == 403, "another name")
    expect(ask("/", headers={"X-Saltus-Token": token, "Origin": "http://example.org"})[0] == 403, "another page")
    expect(ask("/", headers={"X-Saltus-Token": token, "Origin": f"http://{host}"})[0] == 200, "its own page")

    # What there is, and what is out of reach.
    models = json.loads(ask("/api/models")[1])["models"]
    expect("Decay.mo" in models and "Saltus.Examples.NAG" in models, "models")
    model = json.loads(ask("/api/model?name=Decay.mo")[1])
    expect([p["name"] for p in model["parameters"]] == ["k"] and model["parameters"][0]["value"] == 1, "parameters")
    for name in ["../secret.mo", str(pathlib.Path(folder) / "secret.mo"), "link.mo", "none.mo", "--help"]:
        expect(ask(f"/api/model?name={name}")[0] == 400, f"model {name}")
        expect(ask("/api/run", {"model": name, "settings": {}})[0] == 400, f"run of {name}")
    for identity in ["../models", "..", "", "0001-Decay/../0001-Decay", "none"]:
        expect(ask(f"/report?id={identity}")[0] == 404, f"report {identity}")

    # Edit, run, see.
    def run(**request):
        status, text = ask("/api/run", request)
        expect(status == 200, f"{request}: {text}")
        return json.loads(text).get("id")

    def state(identity):
        return next(r for r in json.loads(ask("/api/runs")[1])["runs"] if r["id"] == identity)

    def wait_for(identity, condition):
        for _ in range(600):
            if condition(state(identity)):
                return state(identity)
            time.sleep(0.1)
        expect(False, f"{identity}: {state(identity)}")
        return state(identity)

    decay = run(model="Decay.mo", settings={"k": "2"}, stop_time="1", tolerance="1e-8", method="radau")
    done = wait_for(decay, lambda r: r["status"] != "running")
    expect(done["status"] == "completed" and done["settings"] == {"k": "2"} and done["has_report"], done)
    summary = json.loads((root / "studio" / decay / "summary.json").read_text())
    expect(abs(summary["final"]["x"] - 0.1353352832366127) < 1e-7, summary["final"])
    expect("<title>Decay" in ask(f"/report?id={decay}")[1], "the report")
    wrong = run(model="Decay.mo", settings={"nothing": "2"}, stop_time="1")
    told = wait_for(wrong, lambda r: r["status"] != "running")
    expect(told["status"] == "failed" and "nothing" in told["message"], told)

    # Progress, and a run that is stopped.
    long = run(model="Long.mo", settings={}, stop_time="1e9")
    wait_for(long, lambda r: r["time"] > 0)
    expect(ask("/api/stop", {"id": long})[0] == 200, "stop")
    expect(wait_for(long, lambda r: r["status"] != "running")["status"] == "failed", "the stopped run")

    # Ctrl-C ends it, with the runs that go on.
    last = run(model="Long.mo", settings={}, stop_time="1e9")
    wait_for(last, lambda r: r["time"] > 0)
    studio.send_signal(signal.SIGINT)
    expect(studio.wait(timeout=60) == 0, "exit status")
    expect(not list((root / "studio" / last / "points").glob("*.partial.csv")), "a run outlived the studio")

nowhere = subprocess.run([sys.argv[1], "studio", "nowhere"], capture_output=True, text=True)
expect(nowhere.returncode == 2 and "nowhere" in nowhere.stderr, nowhere.stderr)
print(failures, "failures")
sys.exit(failures != 0)
