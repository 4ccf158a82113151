"""The site as a whole: its parts belong together, and its pages keep what they promise."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from lesson_code.show_numbers import CALLS
from live_numbers import expressions, ledger, shown_code

ROOT = Path(__file__).parent.parent
LESSONS = ROOT / "docs" / "lessons"
CODE = ROOT / "lesson_code"
LEDGER = ledger.read(ROOT / "docs" / "numbers.lock")

# Modules a reader runs at home, which are no lesson of their own.
TOOLS = {"fake_server", "show_numbers"}


def modules() -> set[str]:
    """The topics that have code: modules, and packages by their folder."""
    files = {path.stem for path in CODE.glob("*.py") if not path.stem.startswith("_")}
    return files | {path.parent.name for path in CODE.glob("*/__init__.py")}


def test_every_lesson_has_its_page_its_code_and_its_tests() -> None:
    """A lesson whose code or tests go by another name would be found by nobody."""
    pages = {path.stem for path in LESSONS.glob("*.md")}
    assert modules() - TOOLS == pages
    tests = {path.stem.removeprefix("test_") for path in (ROOT / "tests").glob("test_*.py")}
    for topic in modules():
        assert any(name == topic or name.startswith(f"{topic}_") for name in tests), topic


def test_every_lesson_is_in_the_navigation() -> None:
    """A page that no menu leads to would be read by nobody."""
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [path.stem for path in LESSONS.glob("*.md") if f"lessons/{path.name}" not in navigation] == []


def test_lesson_code_knows_nothing_of_the_site() -> None:
    """An import of the machinery would break the code that a reader takes home."""
    for path in CODE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not any(name.split(".")[0] in ("live_numbers", "mkdocs", "docs", "tests") for name in names), path


def test_the_machinery_knows_no_lesson() -> None:
    """A lesson's name in the machinery would have to be kept in step with the lesson."""
    for path in (ROOT / "docs" / "live_numbers").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            module = getattr(node, "module", None) if isinstance(node, ast.ImportFrom) else None
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [module or ""]
            assert not any(name.split(".")[0] == "lesson_code" for name in names), path


@pytest.mark.parametrize("topic", ["context_window", "kv_memory"])
def test_the_printer_prints_every_figure_of_the_lesson(topic: str) -> None:
    """A reader at home would miss a figure that the page quotes."""
    printed = set()
    for module, calls in CALLS.items():
        names = expressions.page_names(CODE, module)
        printed |= {expressions.canonical(call, names, CODE) for call in calls}
    names = expressions.page_names(CODE, topic)
    quoted = [name for name in LEDGER[f"lessons/{topic}.md"] if ledger.is_expression(name)]
    assert [name for name in quoted if expressions.canonical(name, names, CODE) not in printed] == []


def test_the_page_shows_the_whole_module() -> None:
    """The lesson promises to show its code; a part left out would have to be taken on trust."""
    page = (LESSONS / "context_window.md").read_text(encoding="utf-8")
    shown = set(re.findall(r'code\("(\w+)"\)', page))
    tree = ast.parse((CODE / "context_window.py").read_text(encoding="utf-8"))
    defined = {name for statement in tree.body for name in shown_code.names(statement)}
    assert defined - shown == set()


def test_the_text_keeps_to_itself() -> None:
    """Paths of one machine and addresses of package registries do not belong into a project."""
    lock = (ROOT / "docs" / "requirements.txt").read_text(encoding="utf-8")
    assert re.findall(r"https?://|index-url", lock) == []
    assert all(re.fullmatch(r"#.*|[A-Za-z0-9._-]+==[A-Za-z0-9._]+", line) for line in lock.splitlines())
