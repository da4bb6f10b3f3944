"""A process that translates and runs one model for us.

Models live in processes of their own: runs in threads are independent, Python's interpreter lock is free
while they last, Ctrl-C ends a run, and a crash ends a process that is replaced. Requests and answers are
lines of JSON; points come through memory that both processes share, so they are never copied.
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any, Dict, Optional


class Error(Exception):
    """Wrong input: a model, a name or an option. Says where, if it is known."""

    def __init__(self, message: str, file: str = "", line: int = 0, column: int = 0):
        super().__init__(f"{file}:{line}:{column}: {message}" if file else message)
        self.message = message
        self.file = file
        self.line = line
        self.column = column


def program() -> str:
    """The saltus program: SALTUS_PROGRAM, the one built beside this package, or that of the PATH."""
    given = os.environ.get("SALTUS_PROGRAM")
    if given:
        return given
    built = Path(__file__).resolve().parents[2] / "build" / "release" / "saltus"
    if built.exists():
        return str(built)
    found = shutil.which("saltus")
    if found:
        return found
    raise Error("the program 'saltus' is not there; build it (make build), or set SALTUS_PROGRAM")


class Servant:
    """One process. Not for two threads at once."""

    def __init__(self, load: Dict[str, Any]):
        self._process = subprocess.Popen(
            [program(), "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C on the terminal is ours to pass on
        )
        try:
            self.loaded = self.ask(load)
        except BaseException:
            self.close()
            raise

    def ask(self, request: Dict[str, Any]) -> Dict[str, Any]:
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write((json.dumps(request) + "\n").encode())
            process.stdin.flush()
            line = process.stdout.readline()
        except KeyboardInterrupt:
            self._interrupt()
            raise
        except OSError:
            line = b""
        if not line:
            self.close()
            code = process.returncode
            how = signal.Signals(-code).name if code is not None and code < 0 else f"status {code}"
            raise RuntimeError(f"the process of the model has ended ({how})")
        answer = json.loads(line)
        problem = answer.get("error")
        if problem is None:
            return answer
        if problem["kind"] == "input":
            raise Error(problem["message"], problem["file"], problem["line"], problem["column"])
        if problem["kind"] == "interrupted":
            raise KeyboardInterrupt
        if problem["kind"] == "memory":
            raise MemoryError(problem["message"])
        raise RuntimeError(problem["message"])

    def _interrupt(self) -> None:
        # Its answer is not read any more: the process has to go.
        self.close()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        process = self._process
        if process.poll() is None:
            process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    pass


class SharedNumbers:
    """Memory without a name that the servant fills and we map."""

    def __init__(self) -> None:
        self._handle: Optional[int] = os.memfd_create("saltus-points", os.MFD_CLOEXEC)
        self.path = f"/proc/{os.getpid()}/fd/{self._handle}"

    def map(self) -> Optional[mmap.mmap]:
        """What was written, writable for us alone."""
        assert self._handle is not None
        try:
            size = os.fstat(self._handle).st_size
            return mmap.mmap(self._handle, size, access=mmap.ACCESS_COPY) if size else None
        finally:
            self.close()

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
