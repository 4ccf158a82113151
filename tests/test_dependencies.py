"""Which edits an answer outlives: those of files that it cannot come from, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from live_numbers.dependencies import Code, mentions
from live_numbers.project import Project

FILES = {
    "__init__.py": '"""Lessons."""\n',
    "cats.py": "LEGS = 4\n",
    "dogs.py": "from lesson_code import cats\n\ndef legs(dogs):\n    return dogs * cats.LEGS\n",
    "late.py": "def legs():\n    from lesson_code.dogs import legs\n    return legs(1)\n",
    "herd/__init__.py": "from .sheep import legs\n",
    "herd/sheep.py": "from . import wool\n\ndef legs(sheep):\n    return sheep * wool.LEGS\n",
    "herd/wool.py": "LEGS = 4\n",
    "herd/goats.py": "LEGS = 4\n",
    "names.py": "import sys, subprocess\nsubprocess.run([sys.executable, '-m', 'lesson_code.cats'])\n",
    "any.py": "import importlib\n\ndef get(name):\n    return importlib.import_module('lesson_code.' + name)\n",
    "data.json": "{}",
}
EVERY = set(FILES)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A package of lessons of which some use others."""
    for name, text in FILES.items():
        path = tmp_path / "lesson_code" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Project(tmp_path)


def outlives(project: Project, code: str) -> set[str]:
    """The files whose edit leaves the key of an answer as it is: each is edited in turn, and put back."""
    before = Code(project)
    found = set()
    for name in FILES:
        path = project.lessons / name
        text = path.read_text(encoding="utf-8")
        path.write_text(text + "\n", encoding="utf-8")
        edited = Code(project)
        assert edited.key != before.key
        if edited.key_for(code) == before.key_for(code):
            found.add(name)
        path.write_text(text, encoding="utf-8")
    assert before.key == Code(project).key
    return found


@pytest.mark.parametrize(
    ("code", "reached"),
    [
        ("lesson_code.cats.LEGS", {"cats.py"}),
        ("lesson_code.cats", {"cats.py"}),  # the examples in its docstrings
        ("list(range(1, 6))", set()),
        ("lesson_code.dogs.legs(2)", {"dogs.py", "cats.py"}),
        ("[lesson_code.dogs.legs(n) for n in range(1, 6)]", {"dogs.py", "cats.py"}),
        ("lesson_code.late.legs()", {"late.py", "dogs.py", "cats.py"}),
        ("lesson_code.herd.sheep.legs(2)", {"herd/__init__.py", "herd/sheep.py", "herd/wool.py"}),
        ("lesson_code.herd.goats.LEGS", {"herd/__init__.py", "herd/sheep.py", "herd/wool.py", "herd/goats.py"}),
        ("lesson_code.names", {"names.py", "cats.py"}),
        ("from lesson_code.dogs import legs\n\nprint(legs(2))", {"dogs.py", "cats.py"}),
        ("import lesson_code.cats\n\nprint(lesson_code.cats.LEGS)", {"cats.py"}),
        ("from lesson_code import cats, herd", {"cats.py", "herd/__init__.py", "herd/sheep.py", "herd/wool.py"}),
    ],
)
def test_an_answer_outlives_an_edit_of_what_it_cannot_come_from(project: Project, code: str, reached: set[str]) -> None:
    """If too little is reached, an old figure stays on the page; if too much, every save computes it again."""
    always = {"__init__.py", "data.json"}  # importing anything runs the one, and anything may read the other
    assert EVERY - reached - always == outlives(project, code)


@pytest.mark.parametrize(
    "code",
    [
        "lesson_code.any.get('cats')",
        "import lesson_code\n\nprint(vars(lesson_code))",
        "import lesson_code as lessons",
        "from lesson_code import *",
        "from lesson_code.cats import *",
        "__import__('lesson_' + 'code.cats')",
        "from importlib import import_module",
        "exec('import lesson_' + 'code.cats')",
        "import sys\n\nprint(sys.modules, 'lesson_code')",
        "open('cats.py')",
        "print(",
    ],
)
def test_where_it_cannot_be_told_an_answer_outlives_nothing(project: Project, code: str) -> None:
    """If a hidden import were overlooked, a page would show a figure of code that is no longer there."""
    assert set() == outlives(project, code)


def test_a_docstring_is_no_use() -> None:
    """If prose counted, a lesson that only speaks of another would be computed again with it."""
    assert frozenset() == mentions(
        b'"""See lesson_code.cats, in cats.py."""\n\ndef f():\n    """As lesson_code."""\n', ""
    )


def test_a_file_that_comes_or_goes_is_an_edit(project: Project) -> None:
    """If a new module did not count, an import that failed would go on failing on the page."""
    before = Code(project)
    for code in ("lesson_code.cows.LEGS", "lesson_code.cats.cows.LEGS"):
        assert before.key_for(code) == Code(project).key_for(code)
    (project.lessons / "cows.py").write_text("LEGS = 4\n", encoding="utf-8")
    assert before.key_for("lesson_code.cows.LEGS") != Code(project).key_for("lesson_code.cows.LEGS")
    (project.lessons / "cows.py").unlink()
    (project.lessons / "dogs.py").unlink()
    assert before.key_for("lesson_code.late.legs()") != Code(project).key_for("lesson_code.late.legs()")
    assert before.key_for("lesson_code.cats.LEGS") == Code(project).key_for("lesson_code.cats.LEGS")
