"""Where the reference shows a thing: the page, and the id on it.

By convention `docs/reference/api/TOPIC.md` shows the code of a topic and `docs/reference/tests/TOPIC.md` the test
files called `test_TOPIC*.py`, or all those of the folder `TOPIC`; the tests of no topic are on `others.md` beside them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from live_numbers import shown_code
from live_numbers.expressions import LESSONS
from live_numbers.project import Project

API, TESTS = "reference/api/", "reference/tests/"
NUMBERS, SOURCES = "reference/numbers.md", "reference/sources.md"
OTHERS = "others"


class Place(NamedTuple):
    """A page, and the id of an element on it."""

    uri: str
    fragment: str


def of_code(lessons: Path, name: str) -> Place | None:
    """Where a dotted name is shown, or the nearest thing around it that is.

    Args:
        lessons: the package `lesson_code`.
        name: `lesson_code.kv_memory.load_config`; what follows the name of a value, as `.values` of a dictionary,
            is left aside.
    """
    path, rest = shown_code.module(lessons, name.split(".")[1:])
    if path is None:
        return None
    parts = path.relative_to(lessons).with_suffix("").parts
    known = [LESSONS, *(part for part in parts if part != "__init__")]
    body = shown_code.parsed(path.read_text(encoding="utf-8")).body
    for part in rest:
        found = [statement for statement in body if part in shown_code.names(statement)]
        if part.startswith("_") or not found:
            break
        known.append(part)
        body = found[-1].body if isinstance(found[-1], ast.ClassDef) else []
    return Place(f"{API}{known[1]}.md", ".".join(known)) if known[1:] else None


def of_shown(lessons: Path, topic: str, name: str) -> Place | None:
    """Where the reference shows what a page shows by name, see `shown_code.find`."""
    plain = name.partition(":")[0].removeprefix(f"{LESSONS}.")
    path, _ = shown_code.module(lessons, plain.split("."))
    return of_code(lessons, f"{LESSONS}.{plain}" if path else f"{LESSONS}.{topic}.{plain}")


def topics(uris: Iterable[str], folder: str) -> list[str]:
    """The topics that have a page in a folder of the reference."""
    names = [uri.removeprefix(folder).removesuffix(".md") for uri in uris if uri.startswith(folder)]
    return sorted(name for name in names if name not in ("index", OTHERS))


def test_files(project: Project, uris: Iterable[str]) -> dict[str, list[Path]]:
    """The files of tests by the topic they belong to; those that belong to none are the others."""
    found: dict[str, list[Path]] = {topic: [] for topic in [*topics(uris, TESTS), OTHERS]}
    for path in sorted(project.tests.rglob("test_*.py")):
        name = "_".join([*path.relative_to(project.tests).parts[:-1], path.stem.removeprefix("test_")])
        fitting = [topic for topic in found if name == topic or name.startswith(f"{topic}_")]
        found[max(fitting, key=len, default=OTHERS)].append(path)
    return found


def of_test(test: str, pages: Mapping[str, str]) -> Place | None:
    """Where a test is shown.

    Args:
        test: its name, as pytest writes it.
        pages: the page of each file of tests.
    """
    file, *parts = test.split("::")
    return Place(pages[file], test_id(file, parts)) if file in pages else None


def test_id(file: str, parts: Iterable[str]) -> str:
    """The id of a test: its file below the folder of the tests, and its name, with points between."""
    return ".".join([*Path(file).with_suffix("").parts[1:], *parts])
