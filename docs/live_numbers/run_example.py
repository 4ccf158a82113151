"""Runs one example as `python` would run a script: in the reader's browser, where it is delivered with `lesson_code`.

It stands alone on the standard library. What an example prints leaves through the interpreter's own streams.
"""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import linecache
import os
import sys
import tempfile
import time
import traceback
import types
from collections.abc import Iterator
from typing import TextIO

LESSONS = "lesson_code"
EXAMPLE = "<example>"
"""The file that a traceback names for the reader's own lines."""


class Waiter:
    """What an event loop asks whether a connection has news; here there are none, and it only lets time pass."""

    def select(self, timeout: float | None) -> list[object]:
        """Wait so many seconds; nothing comes.

        Raises:
            RuntimeError: it would wait for ever.
        """
        if timeout is None:
            raise RuntimeError("every task waits for another: this would never end")
        time.sleep(max(0.0, timeout))
        return []


class Loop(asyncio.BaseEventLoop):
    """Python's event loop without connections: the browser's own cannot be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = Waiter()

    def _process_events(self, event_list: list[object]) -> None:
        """There are no events."""

    def _write_to_self(self) -> None:
        """No other thread can have something to say."""


def settle() -> None:
    """Make an interpreter ready: the lessons beside this file are found from everywhere, and `asyncio.run` works.

    In a browser it would come back before the work is done, or not run at all.
    """
    sys.path.insert(0, os.path.dirname(__file__))
    asyncio.run = asyncio.runners.run
    asyncio.new_event_loop = asyncio.events.new_event_loop = Loop


def run(code: str) -> str:
    """Run an example, with the lessons as they were delivered, whatever ran before.

    Args:
        code: its text.

    Returns:
        How it ended: nothing where all went well, and else the name of the error. Its traceback is on standard error,
        without the frames of this module.
    """
    linecache.cache[EXAMPLE] = (len(code), None, code.splitlines(keepends=True), EXAMPLE)
    ended: BaseException | None = None
    with _as_if_started_anew() as names:
        try:
            exec(compile(code, EXAMPLE, "exec", dont_inherit=True), names)
        except BaseException as error:
            ended = error
    if isinstance(ended, SystemExit):
        return _exit(ended.code)
    if ended is None:
        return ""
    own = ended.__traceback__  # its first frame is that of this function
    traceback.print_exception(ended.with_traceback(own.tb_next if own else None))
    return type(ended).__name__


def _exit(status: object) -> str:
    """What `sys.exit(status)` says."""
    if status is None or status == 0:
        return ""
    if isinstance(status, int):
        return f"exit status {status}"
    print(status, file=sys.stderr)
    return "exit status 1"


@contextlib.contextmanager
def _as_if_started_anew() -> Iterator[dict[str, object]]:
    """A `__main__` of its own, fresh lessons, an empty folder to work in; at the end all is as before."""
    for name in [name for name in sys.modules if name.partition(".")[0] == LESSONS]:
        del sys.modules[name]
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    kept, loop = sys.modules["__main__"], asyncio._get_running_loop()
    streams = sys.stdin, sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _stream(1), _stream(2)
    sys.modules["__main__"] = main
    asyncio._set_running_loop(None)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, contextlib.chdir(folder):
        try:
            yield main.__dict__
        finally:
            asyncio._set_running_loop(loop)
            sys.modules["__main__"] = kept
            with contextlib.suppress(ValueError):  # an example may close what it prints to
                sys.stdout.flush()
            sys.stdin, sys.stdout, sys.stderr = streams


def _stream(number: int) -> TextIO:
    """Standard output or standard error, line by line."""
    return open(number, "w", buffering=1, encoding="utf-8", closefd=False)
