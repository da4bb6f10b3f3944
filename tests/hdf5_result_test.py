#!/usr/bin/env python3
"""The points of a run as HDF5: equal to the CSV file to the last bit, for h5py and for xarray.

Usage: hdf5_result_test.py SALTUS
"""
import csv
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import xarray

MODEL = """model M "Variables of one mode, an alias, a negated one, a constant and a quoted name"
  Real x(start = 1, fixed = true, unit = "m") "place";
  Real y = x;
  Real z = -x;
  Real 'a/b' = 2*x;
  constant Real c = 3;
  parameter Real k = 2 "rate";
  Boolean late = time > 0.5;
equation
  der(x) = if late then -k else -k*x;
end M;
"""


def compare(saltus, folder, arguments, points):
    subprocess.run([saltus, "simulate", *arguments, "--format", "h5,csv", "--output", folder, "--quiet"], check=True)
    stem = next(pathlib.Path(folder).glob("*.csv")).with_suffix("")
    with open(f"{stem}.csv", newline="") as file:
        rows = list(csv.reader(file))
    names, values = rows[0], np.array(rows[1:], dtype=float)
    assert len(values) >= points, len(values)
    with h5py.File(f"{stem}.h5") as file:
        for k, name in enumerate(names):
            stored = file[name.replace("/", "_")][()]
            np.testing.assert_array_equal(np.broadcast_to(stored, len(values)), values[:, k], err_msg=name)
    data = xarray.open_dataset(f"{stem}.h5", engine="h5netcdf")
    assert data["time"].attrs["units"] == "s"
    assert not list(pathlib.Path(folder).glob("*.partial*"))
    return data


def main():
    saltus = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "M.mo"
        model.write_text(MODEL)
        data = compare(saltus, f"{folder}/m", [str(model), "--interval", "1e-4"], 10_000)
        assert data["x"].dims == ("time",)
        assert data["x"].attrs["units"] == "m" and data["x"].attrs["long_name"] == "place"
        assert data["k"].item() == 2.0 and data["k"].attrs["long_name"] == "rate"
        compare(saltus, f"{folder}/ball", ["ball"], 20)
        compare(saltus, f"{folder}/pendulum", ["pendulum"], 20)  # whose modes have other unknowns


if __name__ == "__main__":
    main()
