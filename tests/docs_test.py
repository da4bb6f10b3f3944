#!/usr/bin/env python3
"""Runs a page of the documentation as a reader would, from top to bottom in an empty folder.

    docs_test.py SALTUS PAGE.md

What a fence means is decided by its language:
    modelica, cpp, c, cmake  title="FILE" stores the text as FILE; Modelica without a title is a whole class, and is checked
    console                  lines after `$ ` are run; what follows is compared with what they print, where `...` stands for
                             any text (a line of its own: any lines); `# exits with N` is the expected status, else it is 0
    sh                       a script that must succeed
    python                   a program that must succeed; programs of a page share their names
Any other language (text, json ...) is shown and not run, and so is a Modelica or C++ fence titled "fragment".
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TIMEOUT = 240
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[a-z+]+)(?: title=\"(?P<title>[^\"]*)\")?[^\n]*\n(?P<body>.*?)^(?P=indent)```$",
                   re.MULTILINE | re.DOTALL)


def fences(text):
    for match in FENCE.finditer(text):
        indent = len(match["indent"])
        body = "".join(line[indent:] if line.strip() else line for line in match["body"].splitlines(True))
        yield text.count("\n", 0, match.start()) + 1, match["language"], match["title"], body


def commands(body):
    """(command, expected status, expected lines) for each `$ ` of a console fence."""
    found = []
    for line in body.splitlines():
        if line.startswith("$ "):
            command, status = line[2:], 0
            said = re.search(r"\s+# exits with (\d+)$", command)
            if said:
                command, status = command[: said.start()], int(said[1])
            found.append([command, status, []])
        elif found and found[-1][0].endswith("\\"):
            found[-1][0] += "\n" + line
        elif found:
            found[-1][2].append(line.rstrip())
    return found


def matches(expected, printed):
    """Whether the lines are those expected, all of them and in order, blanks at line ends and blank lines apart."""
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        elif line.strip():
            parts = [r"[ ]+".join(re.escape(word) for word in re.split(r" +", part)) for part in line.split("...")]
            pattern += r"[^\n]*?".join(parts) + r"[ ]*\n"
    text = "".join(line + "\n" for line in printed.splitlines() if line.strip())
    return re.fullmatch(pattern, text) is not None


class Page:
    def __init__(self, saltus, path):
        self.path = path
        self.saltus = pathlib.Path(saltus).resolve()
        self.root = pathlib.Path(__file__).resolve().parent.parent
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="saltus_docs_"))
        programs = self.folder / ".programs"
        programs.mkdir()
        (programs / "saltus").symlink_to(self.saltus)
        self.environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", PYTHONPATH=str(self.root / "python"),
                                SALTUS_PROGRAM=str(self.saltus), MPLBACKEND="Agg", PYTHONDONTWRITEBYTECODE="1",
                                SALTUS_BUILD=str(self.saltus.parent))
        self.environment.pop("MODELICAPATH", None)
        self.python = ""
        self.ran = 0

    def fail(self, line, text):
        sys.exit(f"{self.path}:{line}: {text}")

    def run(self, line, arguments, status=0):
        try:
            done = subprocess.run(arguments, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, timeout=TIMEOUT,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        except subprocess.TimeoutExpired:
            self.fail(line, f"no end after {TIMEOUT} s: {arguments[-1]}")
        if done.returncode != status:
            self.fail(line, f"status {done.returncode} instead of {status}: {arguments[-1]}\n{done.stdout}")
        self.ran += 1
        return done.stdout

    def fence(self, line, language, title, body):
        if title == "fragment":
            return
        if language in ("modelica", "cpp", "c", "cmake") and title:
            file = self.folder / title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(body)
        elif language == "modelica":
            file = self.folder / f"line_{line}.mo"
            file.write_text(body)
            self.run(line, ["saltus", "check", file.name])
        elif language in ("cpp", "c", "cmake"):
            self.fail(line, "a program needs title=\"FILE\", so that a command of the page can build it, or title=\"fragment\"")
        elif language == "console":
            for command, status, expected in commands(body):
                printed = self.run(line, ["bash", "-c", command], status)
                if expected and not matches(expected, printed):
                    self.fail(line, f"`{command}` does not print what the page says, but\n{printed}")
        elif language == "sh":
            self.run(line, ["bash", "-euc", body])
        elif language == "python":
            # What earlier programs of the page defined is there, as in a session.
            self.python += body
            self.run(line, [sys.executable, "-c", self.python])


def main():
    page = Page(sys.argv[1], sys.argv[2])
    try:
        for fence in fences(pathlib.Path(sys.argv[2]).read_text()):
            page.fence(*fence)
    finally:
        shutil.rmtree(page.folder)
    if page.ran == 0:
        page.fail(1, "nothing on this page was run")
    print(f"{page.path}: {page.ran} commands and programs ran")


if __name__ == "__main__":
    main()
