"""The interpreter that runs lesson code: a process of its own, one request a line.

Lesson code runs apart from the builder, so that every figure of a build comes from one state of the code, an
endless loop can be stopped, `sys.exit` ends nothing, and hash seed, time zone, locale and width are the same
everywhere. Started by `live_numbers.evaluate` as `python -P worker.py ROOT`.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import json
import math
import os
import pkgutil
import sys
import tempfile
import traceback
from collections.abc import Iterator
from typing import Any

PACKAGE = "lesson_code"
READY = "ready"


def load(failures: dict[str, str]) -> Any:
    """Import the package and every module of it now, so that all figures come from one state of the code."""
    try:
        package = importlib.import_module(PACKAGE)
    except BaseException as error:
        failures[PACKAGE] = describe(error)
        return None
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.startswith("_"):
            continue
        try:
            importlib.import_module(f"{PACKAGE}.{module.name}")
        except BaseException as error:
            failures[f"{PACKAGE}.{module.name}"] = describe(error)
    return package


def plain(value: Any) -> Any:
    """A value as JSON can carry it; a TypeError for anything that is no number, text or list of such."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"the value is {value!r}, not a finite number")
        return value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    raise TypeError(f"the value is a {type(value).__name__}: a figure is a number, a text or a list of those")


def describe(error: BaseException) -> str:
    """An error in one line, with the place in the code it came from."""
    if isinstance(error, SystemExit):
        return f"the code called sys.exit({error.code!r})"
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error.msg} ({os.path.relpath(error.filename or '?')}, line {error.lineno})"
    text = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if PACKAGE in frame.filename]
    if frames:
        text += f" ({os.path.relpath(frames[-1].filename)}, line {frames[-1].lineno})"
    return text


def block_error(error: BaseException) -> str:
    """The traceback of an executed block, without the frames of this module."""
    if isinstance(error, SystemExit):
        return describe(error)
    trace = traceback.TracebackException.from_exception(error)
    trace.stack = traceback.StackSummary.from_list([f for f in trace.stack if f.filename != __file__])
    return "".join(trace.format()).strip()


def value_of(expression: str, package: Any) -> Any:
    """Evaluate an expression whose names are written out in full."""
    names = {"__builtins__": builtins, PACKAGE: package}
    return plain(eval(compile(expression, "<figure>", "eval"), names))


@contextlib.contextmanager
def captured() -> Iterator[Any]:
    """Collect all that reaches standard output, that of child processes included, in a file."""
    with tempfile.TemporaryFile() as file:
        keep = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            yield file
        finally:
            sys.stdout.flush()
            os.dup2(keep, 1)
            os.close(keep)


def output_of(code: str) -> dict[str, Any]:
    """Run a block as `python` would run a script; what it printed, and the error that ended it, if any."""
    error = None
    with captured() as file:
        try:
            exec(compile(code, "<example>", "exec"), {"__name__": "__main__", "__builtins__": builtins})
        except BaseException as caught:
            error = block_error(caught)
        sys.stdout.flush()
        file.seek(0)
        printed = file.read().decode("utf-8", "replace")
    return {"value": printed} if error is None else {"error": error, "printed": printed}


def answer(request: dict[str, str], package: Any, failures: dict[str, str]) -> dict[str, Any]:
    """One request: `{"figure": expression}` or `{"block": code}`."""
    if "block" in request:
        return output_of(request["block"])
    expression = request["figure"]
    for module, failure in failures.items():
        if module == PACKAGE or f"{module}." in expression:
            return {"error": f"{module} cannot be imported: {failure}"}
    try:
        return {"value": value_of(expression, package)}
    except BaseException as error:
        return {"error": describe(error)}


def main() -> None:
    """Answer requests from standard input until it closes."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    sys.path.insert(0, sys.argv[1])
    sys.dont_write_bytecode = True
    failures: dict[str, str] = {}
    package = load(failures)
    answers.write(READY + "\n")
    answers.flush()
    for line in requests:
        answers.write(json.dumps(answer(json.loads(line), package, failures)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
