"""The Python module against exact solutions and against itself. Run by ctest: python3 test_saltus.py"""

import math
import os
import signal
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import saltus  # noqa: E402

CLUTCH = """
model Clutch "Two inertias behind a clutch that closes"
  parameter Real J1 = 1 "engine" annotation();
  parameter Real J2 = 2;
  Real w1(start = 10, fixed = true, unit = "rad/s") "speed of the engine";
  Real w2(start = 0, fixed = true, unit = "rad/s");
  Real tau(unit = "N.m");
  Boolean locked(start = false, fixed = true);
equation
  J1*der(w1) = -tau;
  J2*der(w2) = tau;
  when w1 <= w2 then
    locked = true;
  end when;
  if locked then
    w1 = w2;
  else
    tau = 5;
  end if;
end Clutch;
"""


class Temporary:
    folders = []  # they live as long as the tests: a model may be read when its Temporary is gone

    def __init__(self, text, name="model.mo"):
        folder = tempfile.TemporaryDirectory()
        self.folders.append(folder)
        self.path = os.path.join(folder.name, name)
        Path(self.path).write_text(text)


class Simulation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.file = Temporary(CLUTCH)
        cls.model = saltus.load(cls.file.path)

    def test_lock_is_where_mechanics_says(self):
        r = self.model.simulate(stop_time=3)
        # 10 - 5 t = 2.5 t at t = 4/3, then both turn at 10/3.
        self.assertTrue(r.completed)
        lock = [e for e in r.events if e.time > 0][0]
        self.assertAlmostEqual(lock.time, 4 / 3, places=8)
        self.assertAlmostEqual(r["w1"][-1], 10 / 3, places=7)
        self.assertAlmostEqual(r["w2"][-1], 10 / 3, places=7)
        self.assertEqual(len(r.modes), 2)
        self.assertAlmostEqual(r.modes[0].end, 4 / 3, places=8)
        self.assertAlmostEqual(r.modes[1].begin, 4 / 3, places=8)
        self.assertEqual(r.unit("w1"), "rad/s")
        self.assertEqual(r.description("w1"), "speed of the engine")

    def test_parameters_and_options(self):
        r = self.model.simulate(J1=2.0, tolerance=1e-9, stop_time=3)
        # 10 - 2.5 t = 2.5 t
        self.assertAlmostEqual([e.time for e in r.events if e.time > 0][0], 2.0, places=9)
        r = self.model.simulate({"J2": 1.0}, stop_time=3)
        self.assertAlmostEqual(r["w1"][-1], 5.0, places=7)
        self.assertEqual(self.model.parameters["J2"], 2.0)

    def test_points_are_not_copied(self):
        r = self.model.simulate(stop_time=1)
        self.assertIs(r["w1"], r["w1"])
        self.assertFalse(r["w1"].flags.owndata)
        self.assertTrue(np.shares_memory(r["w1"], r._columns))
        self.assertEqual(
            r["w1"].__array_interface__["data"][0],
            r.to_xarray()["w1"].values.__array_interface__["data"][0],
        )

    def test_frames(self):
        r = self.model.simulate(stop_time=3)
        frame = r.to_pandas()
        self.assertEqual(frame.index.name, "time")
        self.assertEqual(frame.attrs["units"]["w1"], "rad/s")
        np.testing.assert_array_equal(frame["w1"].to_numpy(), r["w1"])
        data = r.to_xarray()
        self.assertEqual(data["w1"].attrs["units"], "rad/s")
        self.assertEqual(data["w1"].attrs["long_name"], "speed of the engine")
        self.assertEqual(len(set(data["mode"].values)), 2)
        self.assertEqual(data.attrs["J2"], 2.0)

    def test_plot_and_page(self):
        import matplotlib

        matplotlib.use("Agg")
        ax = self.model.simulate(stop_time=3).plot("w1", "w2")
        self.assertEqual(len([line for line in ax.lines if len(line.get_xdata()) > 2]), 2)
        self.assertIn("<table>", self.model.simulate(stop_time=3)._repr_html_())

    def test_sensitivities(self):
        r = self.model.simulate(stop_time=1, sensitivities=["J1"])
        # w1 = 10 - 5 t / J1
        self.assertAlmostEqual(r.sensitivities["J1"]["w1"], 5.0, places=6)

    def test_errors_say_where(self):
        with self.assertRaises(saltus.Error) as caught:
            saltus.load(Temporary("model M\n  Real x;\nequation\n  der(x) = y;\nend M;\n").path)
        self.assertEqual(caught.exception.line, 4)
        self.assertTrue(caught.exception.file.endswith("model.mo"))
        for wrong in (
            lambda: self.model.simulate(J3=1.0),
            lambda: self.model.simulate(tolerance=-1.0),
            lambda: self.model.simulate(method="none"),
            lambda: self.model.simulate(J1="much"),
            lambda: saltus.load("no such file.mo"),
            lambda: self.model.simulate(sensitivities=["nothing"]),
        ):
            self.assertRaises(saltus.Error, wrong)
        self.assertRaises(KeyError, lambda: self.model.simulate(stop_time=1)["w3"])
        # and the model is still there
        self.assertTrue(self.model.simulate(stop_time=1).completed)

    def test_a_run_that_ends_early_is_a_result(self):
        model = saltus.load(
            Temporary("model M\n Real x(start=1, fixed=true);\nequation\n der(x)=x*x;\nend M;").path
        )
        r = model.simulate(stop_time=2)
        self.assertFalse(r.completed)
        self.assertLess(r.time[-1], 1.01)
        self.assertRaises(RuntimeError, lambda: model.simulate(stop_time=2, check=True))

    def test_threads_are_independent(self):
        results = [None] * 8

        def work(k):
            model = self.model if k % 2 else saltus.load("ball")
            name, value = ("J1", 1.0 + k) if k % 2 else ("e", 0.5 + 0.05 * k)
            results[k] = model.simulate({name: value}, stop_time=2)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for k in range(8):
            model = self.model if k % 2 else saltus.load("ball")
            name, value = ("J1", 1.0 + k) if k % 2 else ("e", 0.5 + 0.05 * k)
            alone = model.simulate({name: value}, stop_time=2)
            signal_name = "w1" if k % 2 else "h"
            np.testing.assert_array_equal(results[k][signal_name], alone[signal_name])

    def test_ctrl_c_ends_a_long_run(self):
        model = saltus.load(
            Temporary(
                "model M\n Real x(start=1, fixed=true); Real v(start=0, fixed=true);\n"
                "equation\n der(x)=v; der(v)=-1e6*x;\nend M;"
            ).path
        )
        threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begun = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            model.simulate(stop_time=1e6, interval=1e3)
        self.assertLess(time.monotonic() - begun, 20.0)
        self.assertTrue(model.simulate(stop_time=1e-3).completed)


class Inputs(unittest.TestCase):
    TEXT = """
    model Fed
      input Real u;
      Real x(start = 0, fixed = true);
    equation
      der(x) = u;
      annotation(experiment(StopTime = 2, Tolerance = 1e-9));
    end Fed;
    """

    @classmethod
    def setUpClass(cls):
        cls.path = Temporary(cls.TEXT).path

    def final(self, given, **options):
        return saltus.load(self.path, inputs={"u": given}).simulate(**options)["x"][-1]

    def test_arrays(self):
        t = np.linspace(0, 2, 9)
        self.assertAlmostEqual(self.final((t, 3 * t)), 6.0, places=8)
        self.assertAlmostEqual(self.final((t, t**3 - t, "spline")), 2.0, places=8)
        self.assertAlmostEqual(self.final(([0, 1, 2], [1, 3, 0], "hold")), 4.0, places=8)
        self.assertAlmostEqual(self.final(([0, 1, 1, 2], [0, 1, -1, 0])), 0.0, places=8)
        self.assertAlmostEqual(self.final("2*time"), 4.0, places=8)
        self.assertAlmostEqual(self.final(2), 4.0, places=8)

    def test_functions(self):
        self.assertAlmostEqual(self.final(lambda t: math.sin(3 * t)), (1 - math.cos(6)) / 3, places=8)
        self.assertAlmostEqual(self.final(np.exp, stop_time=3), math.exp(3) - 1, places=6)
        # A jump that no sample falls on is an event.
        model = saltus.load(self.path, inputs={"u": lambda t: 1.0 if t < math.sqrt(2) else -1.0})
        r = model.simulate()
        self.assertAlmostEqual(r["x"][-1], 2 * math.sqrt(2) - 2, places=8)
        self.assertTrue(any(abs(e.time - math.sqrt(2)) < 1e-9 for e in r.events))

    def test_inputs_of_one_run(self):
        model = saltus.load(self.path, inputs={"u": "1"})
        self.assertAlmostEqual(model.simulate(inputs={"u": ([0, 2], [0, 4])})["x"][-1], 4.0, places=8)
        fed = model._fed[1]
        model.simulate(inputs={"u": ([0, 2], [0, 4])}, stop_time=1)
        self.assertIs(model._fed[1], fed)  # translated once
        self.assertAlmostEqual(model.simulate(inputs={"u": math.cos})["x"][-1], math.sin(2), places=8)
        self.assertAlmostEqual(model.simulate()["x"][-1], 2.0, places=8)
        self.assertRaises(saltus.Error, lambda: model.simulate(inputs={"v": ([0, 2], [0, 4])}))

    def test_wrong_ones_are_told_before_anything_runs(self):
        for wrong in (
            ([0, 1], [1, 2]),  # shorter than the run
            ([0, 2], [1, math.nan]),
            ([2, 0], [1, 2]),
            ([0, 1, 2], [1, 2]),
            ([0, 2], [1, 2], "bent"),
            ([[0, 2]], [[1, 2]]),
            lambda t: math.nan,
            lambda t: "one",
            "none.csv:u",
            None,
        ):
            self.assertRaises(saltus.Error, lambda given=wrong: self.final(given))


class ByHand(unittest.TestCase):
    def ball(self):
        ball = saltus.System("ball")
        h = ball.variable("h", start=1.0, unit="m")
        v = ball.variable("v", unit="m/s")
        g = ball.parameter("g", 9.81, unit="m/s2")
        flying = ball.mode("flying")
        flying.equations = [saltus.der(h) == v, saltus.der(v) == -g]
        flying.guard("impact", h, to="flying", set={v: -0.7 * v})
        return ball

    def test_ten_lines(self):
        r = self.ball().simulate(stop_time=0.6)
        fall = math.sqrt(2 / 9.81)
        self.assertAlmostEqual(r.events[0].time, fall, places=9)
        t = 0.6 - fall
        self.assertAlmostEqual(r["h"][-1], 0.7 * math.sqrt(2 * 9.81) * t - 9.81 / 2 * t * t, places=7)

    def test_modes_of_different_size(self):
        s = saltus.System("string")
        x = s.variable("x", start=1.0)
        y = s.variable("y", start=0.0)
        first = s.mode("two")
        first.equations = [saltus.der(x) == -x, y == 2 * x]
        first.guard("half", x - 0.5, to="one")
        s.mode("one").equations = [saltus.der(x) == 0 * x]
        r = s.simulate(stop_time=2.0)
        later = r.time > 1.0
        self.assertTrue(np.all(np.isnan(r["y"][later])))
        np.testing.assert_allclose(r["y"][r.time < 0.6], 2 * r["x"][r.time < 0.6], rtol=1e-9)

    def test_wrong_systems_are_refused(self):
        s = saltus.System("wrong")
        x = s.variable("x")
        s.mode("m").equations = [saltus.der(x) == 1.0]
        s._modes[0].guard("g", x - 1, to="nowhere")
        self.assertRaises(saltus.Error, lambda: s.simulate(stop_time=1))
        self.assertRaises(saltus.Error, lambda: saltus.der(x + 1))
        with self.assertRaises(saltus.Error):
            if x < 1:
                pass

    def test_linear_and_steady(self):
        s = saltus.System("circuit")
        i, v = s.variable("i"), s.variable("v")
        u = s.parameter("U", 12.0)
        s.mode("on").equations = [0.5 * saltus.der(i) == u - 2 * i - v, 0.1 * saltus.der(v) == i]
        model = s.model()
        linear = model.linearize(inputs=["U"], outputs=["v"])
        self.assertEqual(sorted(linear.states), ["i", "v"])
        np.testing.assert_allclose(sorted(linear.poles.imag), [-4, 4], atol=1e-9)
        np.testing.assert_allclose(linear.poles.real, [-2, -2], atol=1e-9)
        np.testing.assert_allclose(linear.transfer(1j), [[1 / (0.95 + 0.2j)]], atol=1e-9)
        rest = model.steady()
        self.assertAlmostEqual(rest.values["v"], 12.0, places=10)
        self.assertTrue(rest.stable)
        self.assertEqual(model.analyze()["modes"][0]["name"], "on")


class Fits(unittest.TestCase):
    TEXT = """
    model Decay
      parameter Real k = 0.3, x0 = 1, a = 1;
      Real x(start = x0, fixed = true);
    equation
      der(x) = -a*k*x;
    end Decay;
    """

    def setUp(self):
        self.model = saltus.load(Temporary(self.TEXT).path)
        t = np.linspace(0, 4, 41)
        self.data = {"time": t, "x": 2 * np.exp(-0.7 * t)}
        self.data["x"][7] = np.nan

    def test_exact_data(self):
        fit = self.model.fit(self.data, ["k", "x0"])
        self.assertTrue(fit.converged)
        self.assertAlmostEqual(fit.values["k"], 0.7, places=6)
        self.assertAlmostEqual(fit.values["x0"], 2.0, places=6)
        self.assertEqual(fit.why_differences, "")
        low, high = fit.parameters["k"].interval()
        self.assertTrue(low < fit.values["k"] < high)
        np.testing.assert_allclose(fit.fitted["x"], 2 * np.exp(-0.7 * fit.time), rtol=1e-5)
        bounded = self.model.fit(self.data, ["k", "x0"], bounds={"k": (0, 0.5)})
        self.assertEqual(bounded.values["k"], 0.5)
        self.assertTrue(bounded.parameters["k"].at_bound)

    def test_what_cannot_be_told_apart(self):
        fit = self.model.fit(self.data, ["k", "a"])
        self.assertEqual(sorted(fit.not_told_apart), ["a", "k"])
        self.assertTrue(math.isnan(fit.parameters["a"].deviation))

    def test_wrong_input(self):
        for wrong in (
            lambda: self.model.fit(self.data, ["q"]),
            lambda: self.model.fit({"x": [1, 2]}, ["k"]),
            lambda: self.model.fit({"time": [0, 1], "y": [1, 2]}, ["k"]),
            lambda: self.model.fit({"time": [0, 1], "x": [1, 2, 3]}, ["k"]),
            lambda: self.model.fit({"time": [1, 0], "x": [1, 2]}, ["k"]),
            lambda: self.model.fit(self.data, ["k"], bounds={"k": (1, 0)}),
            lambda: self.model.fit(self.data, ["k"], bounds={"a": (0, 1)}),
        ):
            self.assertRaises(saltus.Error, wrong)


class Studies(unittest.TestCase):
    def test_sweep(self):
        with tempfile.TemporaryDirectory() as folder:
            data = saltus.load("ball").sweep(
                {"e": [0.5, 0.9]}, {"peak": "max(v)"}, os.path.join(folder, "s.h5"), stop_time=1
            )
        # The speed after the first impact is the largest.
        np.testing.assert_allclose(data["peak"], data["e"] * math.sqrt(2 * 9.81), rtol=1e-6)

    def test_overhead(self):
        model = self.enterContext(saltus.load("ball")) if hasattr(self, "enterContext") else saltus.load("ball")
        walls, inside = [], []
        for _ in range(50):
            begun = time.perf_counter()
            r = model.simulate(stop_time=0.1)
            walls.append(time.perf_counter() - begun)
            inside.append(r.summary["statistics"]["wall_seconds"])
        overhead = np.median(walls) - np.median(inside)
        print(f"overhead of a run {1e3 * overhead:.3f} ms")
        self.assertLess(overhead, 0.05)  # a loaded machine; the number itself is printed


if __name__ == "__main__":
    unittest.main()
