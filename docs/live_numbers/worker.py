"""The interpreter that runs lesson code: a process of its own, one request a line.

Lesson code runs apart from the builder, so that every figure of a build comes from one state of the code, an
endless loop can be stopped, `sys.exit` ends nothing, and hash seed, time zone, locale and width are the same
everywhere. Started by `live_numbers.evaluate` as `python -P worker.py ROOT`.
"""

from __future__ import annotations

import builtins
import contextlib
import doctest
import importlib
import json
import math
import os
import pkgutil
import re
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any

PACKAGE = "lesson_code"
READY = "ready"
LONGEST_OUTPUT = 20_000
Names = Mapping[str, object]
NEEDS = {
    "subprocess.Popen": "processes",
    "os.exec": "processes",
    "os.fork": "processes",
    "os.posix_spawn": "processes",
    "os.spawn": "processes",
    "os.system": "processes",
    "socket.bind": "connections",
    "socket.connect": "connections",
    "socket.getaddrinfo": "connections",
}
"""What Python in a browser does not have, by the audit events that tell of its use."""


@dataclass(frozen=True)
class Broken:
    """Why a module cannot be imported, and where."""

    file: str
    line: int
    what: str


def load(failures: dict[str, Broken]) -> Any:
    """Import the package and every module of it now, so that all figures come from one state of the code."""
    try:
        package = importlib.import_module(PACKAGE)
    except BaseException as error:
        failures[PACKAGE] = broken(error, f"{PACKAGE}/__init__.py")
        return None
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.startswith("_"):
            continue
        try:
            importlib.import_module(f"{PACKAGE}.{module.name}")
        except BaseException as error:
            file = f"{PACKAGE}/{module.name}" + ("/__init__.py" if module.ispkg else ".py")
            failures[f"{PACKAGE}.{module.name}"] = broken(error, file)
    return package


def broken(error: BaseException, module_file: str) -> Broken:
    """An import that failed: in the file and line of the lessons that it came from, as far as that is known."""
    if isinstance(error, SyntaxError) and error.filename:
        return Broken(os.path.relpath(error.filename), error.lineno or 0, f"SyntaxError: {error.msg}")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if PACKAGE in frame.filename]
    what = describe(error).partition(f" ({PACKAGE}")[0]
    if not frames:
        return Broken(module_file, 0, what)
    return Broken(os.path.relpath(frames[-1].filename), frames[-1].lineno or 0, what)


def plain(value: Any) -> Any:
    """A value as JSON can carry it; a TypeError for anything that is no number, text or list of such."""
    if isinstance(value, str):
        value.encode()  # half a surrogate pair cannot stand on a page, nor in the ledger
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
    sys.stdout.flush()  # what a figure printed belongs to no block
    with tempfile.TemporaryFile() as file:
        keep = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            yield file
        finally:
            sys.stdout.flush()
            os.dup2(keep, 1)
            os.close(keep)


_used: set[str] = set()


def watch(event: str, _arguments: tuple[Any, ...]) -> None:
    """An audit hook: note what the running code uses that a browser does not have."""
    if event in NEEDS:
        _used.add(NEEDS[event])


@contextlib.contextmanager
def watched() -> Iterator[set[str]]:
    """Collect what the code within needs besides Python itself: processes, threads, connections, packages."""
    plain_import, plain_start = builtins.__import__, threading.Thread.start

    def noting_import(
        name: str,
        globals: Names | None = None,
        locals: Names | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        module = plain_import(name, globals, locals, fromlist, level)
        importer, top = str((globals or {}).get("__name__", "")).partition(".")[0], name.partition(".")[0]
        if importer in ("__main__", PACKAGE) and level == 0 and top not in {PACKAGE, *sys.stdlib_module_names}:
            _used.add(f"the package {top}")
        return module

    def noting_start(thread: threading.Thread) -> None:
        _used.add("threads")
        plain_start(thread)

    _used.clear()
    builtins.__import__ = noting_import
    threading.Thread.start = noting_start  # type: ignore[assignment, method-assign]
    try:
        yield _used
    finally:
        builtins.__import__ = plain_import
        threading.Thread.start = plain_start  # type: ignore[method-assign]


def output_of(code: str) -> dict[str, Any]:
    """Run a block as `python` would run a script.

    Returns:
        What it printed and what it needs besides Python itself, or the error that ended it.
    """
    error = None
    streams = sys.stdin, sys.stdout, sys.stderr
    with captured() as file, watched() as used:
        try:
            names = {"__name__": "__main__", "__builtins__": builtins}
            exec(compile(code, "<example>", "exec", dont_inherit=True), names)
            sys.stdout.flush()
        except BaseException as caught:
            error = block_error(caught)
        sys.stdin, sys.stdout, sys.stderr = streams
        if sys.stdout.closed:
            sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - it stays open
        if sys.stdin.closed:
            sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - it stays open
        sys.stdout.flush()
        file.seek(0)
        printed = file.read(4 * LONGEST_OUTPUT + 1).decode("utf-8", "replace")
    if error is None and len(printed) > LONGEST_OUTPUT:
        error = f"the block prints more than {LONGEST_OUTPUT:,} characters"
    return {"error": visible(error)} if error is not None else {"value": visible(printed), "needs": sorted(used)}


def visible(text: str) -> str:
    """The text with control characters written out: a page cannot show them."""
    return "".join(c if c in "\n\t\u00a0" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def doctests(module: str) -> dict[str, Any]:
    """Run the examples in the docstrings of a module; how many there are, or what the first false one says."""
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    for test in doctest.DocTestFinder().find(sys.modules[module]):
        runner.run(test, out=said.append)
    report = "".join(said).replace(os.getcwd() + os.sep, "").strip("*\n ")
    return {"error": report} if said else {"value": runner.tries}


def answer(request: dict[str, str], package: Any, failures: dict[str, Broken]) -> dict[str, Any]:
    """One request: `{"figure": expression}`, `{"block": code}` or `{"doctest": module}`."""
    if "block" in request:
        return output_of(request["block"])
    wanted = request.get("figure") or request["doctest"]
    for module, failure in failures.items():
        if module == PACKAGE or re.search(rf"\b{re.escape(module)}\b", wanted):
            return {"error": f"{module} cannot be imported: {failure.what}", "broken": asdict(failure)}
    try:
        return doctests(wanted) if "doctest" in request else {"value": value_of(wanted, package)}
    except BaseException as error:
        return {"error": describe(error)}


def encoded(number: int, found: dict[str, Any]) -> str:
    """An answer as a line; one that cannot be written down is an error."""
    try:
        return json.dumps({"number": number} | found)
    except ValueError as error:  # a whole number of thousands of digits
        return json.dumps({"number": number, "error": f"the value cannot be written: {error}"})


def main() -> None:
    """Answer requests from standard input until it closes."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    sys.path.insert(0, sys.argv[1])
    sys.dont_write_bytecode = True
    sys.addaudithook(watch)
    failures: dict[str, Broken] = {}
    package = load(failures)
    own = os.getpid()
    answers.write(READY + "\n")
    answers.flush()
    for number, line in enumerate(requests):
        found = answer(json.loads(line), package, failures)
        if os.getpid() != own:
            os._exit(0)  # a child that an example forked and left behind
        answers.write(encoded(number, found) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
