"""A pytest plugin that records which assert statements really ran, and passed, in tests that passed.

`live_numbers.evidence.run` loads it with `-p live_numbers.pytest_evidence`. It runs only the tests it is told
to, and counts no assertion made while a name of the lessons' modules stood replaced (a mock, say).
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import sys
from collections import defaultdict
from pathlib import Path
from types import FrameType, ModuleType

import pytest
from _pytest.assertion import rewrite

from live_numbers.expressions import LESSONS

OPTION = "--evidence"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--evidence FILE`."""
    parser.addoption(
        OPTION,
        metavar="FILE",
        help="run only the tests that this JSON list names, then write there what they asserted",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Keep clear of test files compiled by an ordinary run, before the first one is imported.

    pytest finds them again by their source alone, and they lack the calls that report passed assertions.
    """
    if early_config.known_args_namespace.evidence:
        sys.dont_write_bytecode = True
        rewrite.PYC_TAIL = f".evidence{rewrite.PYC_TAIL}"


def pytest_configure(config: pytest.Config) -> None:
    """Start recording if asked to."""
    file = config.getoption(OPTION)
    if file:
        config.pluginmanager.register(Recorder(Path(file)))


class Recorder:
    """Collects what happened, by test function: `tests/test_x.py::test_y`, all its parameters together."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.wanted: set[str] = set(json.loads(file.read_text(encoding="utf-8")))
        self.originals = [(module, own_names(module)) for module in lesson_modules(f"{file}.pycache")]
        self.tests: dict[str, str] = {}
        self.phases: dict[str, set[str]] = defaultdict(set)
        self.outcomes: dict[str, str] = {}
        self.lines: dict[str, set[tuple[str, int]]] = defaultdict(set)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the wanted tests only."""
        self.tests = {item.nodeid: test_function(item) for item in items}
        rest = [item for item in items if self.tests[item.nodeid] not in self.wanted]
        config.hook.pytest_deselected(items=rest)
        items[:] = [item for item in items if self.tests[item.nodeid] in self.wanted]

    def pytest_assertion_pass(self, item: pytest.Item, lineno: int) -> None:
        """Record one passed assertion, unless the lessons' code stands altered."""
        if not any(altered(module, original) for module, original in self.originals):
            self.lines[self.tests[item.nodeid]].add((asserting_file(sys._getframe()), lineno))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record how a phase of a test ended; anything but an ordinary pass sticks to the test function."""
        test = self.tests[report.nodeid]
        outcome = "expected to fail" if hasattr(report, "wasxfail") else report.outcome
        if outcome != "passed":
            self.outcomes[test] = outcome
        self.phases[report.nodeid].add(report.when or "")

    def pytest_sessionfinish(self) -> None:
        """Write what was recorded, in one step."""
        for nodeid, test in self.tests.items():
            whole = self.phases[nodeid] == {"setup", "call", "teardown"}
            if test in self.wanted:
                self.outcomes.setdefault(test, "passed" if whole else "not run")
        result = {
            test: {"outcome": outcome, "lines": sorted(self.lines[test])}
            for test, outcome in sorted(self.outcomes.items())
        }
        new = self.file.with_name(f"{self.file.name}.new")
        new.write_text(json.dumps(result), encoding="utf-8")
        os.replace(new, self.file)


def test_function(item: pytest.Item) -> str:
    """Return the node id of an item without its parameters."""
    name = getattr(item, "originalname", None) or item.name
    return item.nodeid.removesuffix(item.name) + name


def asserting_file(frame: FrameType | None) -> str:
    """Return the file whose assert statement led to the given frame, an empty text if none did."""
    while frame and frame.f_code.co_name != "_call_assertion_pass":
        frame = frame.f_back
    return str(Path(frame.f_back.f_code.co_filename).resolve()) if frame and frame.f_back else ""


def lesson_modules(no_cache: str) -> list[ModuleType]:
    """Import and return all modules of the lessons; one that does not import fails its own tests.

    They are compiled anew (from a cache folder that is not there), because Python takes no notice of an edit
    that changes neither a file's size nor the second it was written in.
    """
    before, sys.pycache_prefix = sys.pycache_prefix, no_cache
    modules = []
    try:
        package = importlib.import_module(LESSONS)
        modules.append(package)
        for found in pkgutil.walk_packages(package.__path__, f"{LESSONS}.", onerror=lambda name: None):
            if not found.name.endswith(".__main__"):
                with contextlib.suppress(Exception):  # whatever it is, the tests of that module show it
                    modules.append(importlib.import_module(found.name))
    except ImportError:
        return []
    finally:
        sys.pycache_prefix = before
    return modules


def own_names(module: ModuleType) -> dict[str, object]:
    """Return what stands behind each name of a module now, Python's own double-underscored names aside."""
    return {name: value for name, value in vars(module).items() if not name.startswith("__")}


def altered(module: ModuleType, original: dict[str, object]) -> bool:
    """Say whether a name of a module was added, removed or bound to another object."""
    now = own_names(module)
    return now.keys() != original.keys() or any(now[name] is not value for name, value in original.items())
