"""Code on a page, found by its name and never by its line."""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

import pytest

from live_numbers.shown_code import MissingCodeError, find, names

CATS = '''\
"""Cats."""

import functools

LEGS = 4
NAMES = [
    "Biscuit",
    "Tom",
]
TAILS: int = 1


def legs(cats):
    """Count the legs."""
    return cats * LEGS


@functools.lru_cache(
    maxsize=3,
)
@functools.wraps(legs)
def slow(cats):
    # region: inside
    total = 0
    for _ in range(cats):
        total += LEGS
    # endregion
    return total


async def later():
    return 1


@functools.total_ordering
class Cat:
    """One of them."""

    lives = 9

    class Paw:
        claws = 5

    @property
    def legs(self):
        """Count them."""

        return LEGS


# region: whole
def tails(cats):
    return cats


# endregion


# region: two words
TWICE = 1
# endregion
TWICE = 2
'''


@pytest.fixture
def lessons(tmp_path: Path) -> Path:
    """Make a package of lessons: a topic, another, and one that is a package."""
    files = {
        "__init__.py": "ALL = 1\n",
        "cats.py": CATS,
        "dogs.py": "def bark():\n    return 'woof'\n\n\n",
        "chat/__init__.py": "from .store import Store\n\nLIMIT = 3\n",
        "chat/store.py": "class Store:\n    def put(self):\n        return 1\n",
        "cats_alone.py": "",
    }
    root = tmp_path / "lesson_code"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


LEGS = '''\
def legs(cats):
    """Count the legs."""
    return cats * LEGS'''

SLOW = """\
@functools.lru_cache(
    maxsize=3,
)
@functools.wraps(legs)
def slow(cats):
    # region: inside
    total = 0
    for _ in range(cats):
        total += LEGS
    # endregion
    return total"""

CAT = '''\
@functools.total_ordering
class Cat:
    """One of them."""

    lives = 9

    class Paw:
        claws = 5

    @property
    def legs(self):
        """Count them."""

        return LEGS'''

METHOD = '''\
@property
def legs(self):
    """Count them."""

    return LEGS'''

INSIDE = """\
total = 0
for _ in range(cats):
    total += LEGS"""

STORE = """\
class Store:
    def put(self):
        return 1"""


@pytest.mark.parametrize(
    ("expected", "file", "name"),
    [
        (LEGS, "cats.py", "legs"),
        (LEGS, "cats.py", "cats.legs"),
        (LEGS, "cats.py", "lesson_code.cats.legs"),
        (SLOW, "cats.py", "slow"),
        ("async def later():\n    return 1", "cats.py", "later"),
        (CAT, "cats.py", "Cat"),
        (METHOD, "cats.py", "Cat.legs"),
        ("lives = 9", "cats.py", "Cat.lives"),
        ("class Paw:\n    claws = 5", "cats.py", "Cat.Paw"),
        ("claws = 5", "cats.py", "cats.Cat.Paw.claws"),
        ("LEGS = 4", "cats.py", "LEGS"),
        ('NAMES = [\n    "Biscuit",\n    "Tom",\n]', "cats.py", "NAMES"),
        ("TAILS: int = 1", "cats.py", "TAILS"),
        # What Python would use is the last.
        ("TWICE = 2", "cats.py", "TWICE"),
        # Modules whole, and what is in others.
        (CATS.rstrip(), "cats.py", "cats"),
        ("def bark():\n    return 'woof'", "dogs.py", "dogs"),
        ("def bark():\n    return 'woof'", "dogs.py", "dogs.bark"),
        ("", "cats_alone.py", "cats_alone"),
        # Packages, and modules in them.
        ("from .store import Store\n\nLIMIT = 3", "chat/__init__.py", "chat"),
        ("LIMIT = 3", "chat/__init__.py", "chat.LIMIT"),
        (STORE, "chat/store.py", "chat.store"),
        (STORE, "chat/store.py", "chat.store.Store"),
        ("def put(self):\n    return 1", "chat/store.py", "lesson_code.chat.store.Store.put"),
        # Regions.
        (INSIDE, "cats.py", "cats:inside"),
        (INSIDE, "cats.py", "lesson_code.cats:inside"),
        ("def tails(cats):\n    return cats", "cats.py", "cats:whole"),
        ("TWICE = 1", "cats.py", "cats:two words"),
    ],
)
def test_code_by_its_name(lessons: Path, expected: str, file: str, name: str) -> None:
    """A page would show other code than its name says, or a part of it."""
    assert (lessons / file, expected) == find(lessons, "cats", name)


def test_the_topic_may_be_in_a_package(lessons: Path) -> None:
    """A bare name would only be found on pages whose topic is a module right in the package."""
    assert (lessons / "chat/store.py", STORE) == find(lessons, "chat.store", "Store")
    assert (lessons / "chat/__init__.py", "LIMIT = 3") == find(lessons, "chat", "LIMIT")


@pytest.mark.parametrize(
    ("says", "name"),
    [
        ("'paws': the module has Cat, LEGS, NAMES, TAILS, TWICE, TWICE, later, legs, slow, tails", "paws"),
        ("'dogs.meow': the module has bark", "dogs.meow"),
        ("'Cat.purr': the module has Paw, legs, lives", "Cat.purr"),
        ("'LEGS.more': the module has nothing", "LEGS.more"),
        ("'cats_alone.x': the module has nothing", "cats_alone.x"),
        ("'chat.Store': the module has LIMIT", "chat.Store"),
        ("region of 'cats:gone' is not there: the module has inside, whole, two words", "cats:gone"),
        ("region of 'cats:insid' is not there: the module has inside, whole, two words", "cats:insid"),
        ("region of 'cats:two' is not there: the module has inside, whole, two words", "cats:two"),
        ("region of 'cats:whole.' is not there: the module has", "cats:whole."),
        ("region of 'dogs:gone' is not there: the module has none", "dogs:gone"),
        ("code('') names nothing", ""),
        ("code('  ') names nothing", "  "),
    ],
)
def test_missing_names_list_what_there_is(lessons: Path, says: str, name: str) -> None:
    """A page would be published without its code, or its author would not learn what to write instead."""
    with pytest.raises(MissingCodeError, match=re.escape(says)):
        find(lessons, "cats", name)


def test_no_module_at_all(lessons: Path) -> None:
    """A page whose topic has no module would end the build in a traceback."""
    with pytest.raises(MissingCodeError, match=re.escape("no module for 'paws' in lesson_code")):
        find(lessons, "birds", "paws")


def test_a_name_that_is_no_text(lessons: Path) -> None:
    """A slip such as code(legs) would end the build in a traceback."""
    with pytest.raises(MissingCodeError, match="names nothing"):
        find(lessons, "cats", 5)  # type: ignore[arg-type] # the wrong type is the case


def test_a_region_within_a_region(lessons: Path) -> None:
    """The outer one would end where the inner one does, and the page would show half of it."""
    (lessons / "nest.py").write_text(
        textwrap.dedent("""\
            # region: outer
            def f():
                # region: inner
                if 1:
                    return 2
                # endregion
                return 3
            # endregion
            x = 4
            # region: open
            y = 5
            """),
        encoding="utf-8",
    )
    assert "def f():\n    if 1:\n        return 2\n    return 3" == find(lessons, "nest", "nest:outer")[1]
    assert "if 1:\n    return 2" == find(lessons, "nest", "nest:inner")[1]
    with pytest.raises(MissingCodeError, match="'nest:open' has no end"):
        find(lessons, "nest", "nest:open")


@pytest.mark.parametrize("odd", ["\x0c", "a = '\u2028'", "a = '\x85'", "a = '\x1c'", "# \u2029"])
def test_lines_are_counted_as_python_counts_them(lessons: Path, odd: str) -> None:
    """A form feed or a line separator above would shift what is shown by a line."""
    (lessons / "odd.py").write_text(f"{odd}\n\n\ndef f():\n    return 1\n\n\nx = 2\n", encoding="utf-8")
    assert "def f():\n    return 1" == find(lessons, "odd", "f")[1]
    assert "x = 2" == find(lessons, "odd", "x")[1]


def test_other_line_ends(lessons: Path) -> None:
    """Code saved on another system would be shown with its line ends, or not be found."""
    (lessons / "crlf.py").write_bytes(b"x = 1\r\n# region: r\r\ndef f():\r\n    return 1\r\n# endregion\r\n")
    assert "def f():\n    return 1" == find(lessons, "crlf", "f")[1]
    assert "def f():\n    return 1" == find(lessons, "crlf", "crlf:r")[1]


def test_edited_code_is_shown_at_once(lessons: Path) -> None:
    """A page of the server would show the code of an earlier moment."""
    assert "LEGS = 4" == find(lessons, "cats", "LEGS")[1]
    (lessons / "cats.py").write_text("# more\n\nLEGS = 5\n", encoding="utf-8")
    assert "LEGS = 5" == find(lessons, "cats", "LEGS")[1]


@pytest.mark.parametrize(
    ("expected", "statement"),
    [
        (["f"], "def f(): ..."),
        (["f"], "async def f(): ..."),
        (["C"], "class C: ..."),
        (["a"], "a = 1"),
        (["a", "b"], "a = b = 1"),
        (["a"], "a: int"),
        ([], "a.b = 1"),
        ([], "f()"),
        ([], "import a"),
        ([], "if a: b = 1"),
    ],
)
def test_what_a_statement_defines(expected: list[str], statement: str) -> None:
    """A name would be found where it is not defined."""
    assert expected == names(ast.parse(statement).body[0])
