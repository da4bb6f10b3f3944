"""Executes the code of a notebook from top to bottom: python3 run_notebook.py FILE.ipynb

Without Jupyter, so that the tutorial can be tested wherever the package runs.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))


def main(path: str) -> None:
    try:
        import matplotlib

        matplotlib.use("Agg")
    except ImportError:
        pass
    cells = json.loads(Path(path).read_text())["cells"]
    names: dict = {"__name__": "__notebook__"}
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{path}, cell {number}", "exec"), names)


if __name__ == "__main__":
    main(sys.argv[1])
