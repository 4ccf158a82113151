"""The ledger: what is written is read again, whatever it holds, and never by halves."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from live_numbers import ledger
from live_numbers.ledger import LedgerError, Pages

same_every_run = settings(derandomize=True, deadline=None, database=None, max_examples=40)

# Half a surrogate pair cannot stand in a file at all; everything else can.
texts = st.text(st.characters(exclude_categories=["Cs"])) | st.text("'\"\\ =[]#\n\r\t\x00\x1b\x7f\x85\u2028\u2029é")
scalars = st.integers() | st.integers(-(10**400), 10**400) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(scalars | texts | st.booleans(), lambda inner: st.lists(inner, max_size=3), max_leaves=6)
examples = st.builds(lambda kind, name: kind + name, st.sampled_from(["output: ", "picture: "]), texts)
entries = st.dictionaries(texts | examples, st.lists(values, min_size=1, max_size=3), max_size=4)
pages = st.dictionaries(texts, entries, max_size=3)

PAGES: Pages = {
    "index.md": {"legs(3)": [12, "12"], "names()": [["a", "b"], "a, b"]},
    "lessons/cats.md": {"output: count": ["12 legs", "", "done"], "legs('it')": [0.5, "50 %"], "LEGS": [4, "four"]},
}
TEXT = """
['index.md']
'legs(3)' = [12, "12"]
'names()' = [["a", "b"], "a, b"]

['lessons/cats.md']
'output: count' = [
  "12 legs",
  "",
  "done",
]
"legs('it')" = [0.5, "50 %"]
'LEGS' = [4, "four"]
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Name a file for the ledger, in a folder of its own."""
    return tmp_path_factory.mktemp("ledger") / "numbers.lock"


def test_what_it_looks_like(path: Path) -> None:
    """A pull request would show another text than the one that people learnt to read."""
    ledger.write(path, PAGES)
    content = path.read_text(encoding="utf-8")
    assert content == ledger.text(PAGES)
    head, body = content.split("\n\n", 1)
    assert TEXT == "\n" + body
    assert all(line.startswith("# ") for line in head.splitlines())
    assert PAGES == ledger.read(path)


@same_every_run
@given(pages)
@example({"": {"": [""]}})
@example({"a'b": {"f('it')": [1], 'f("it")': [1], "f('a', \"b\")": [1]}})
@example({"p": {"a\nb": ["\n"], "\x7f": ["\x7f"], "\x00": ["\x00"], "\u2028'": ["\u2028'"], "\\": ["\\"]}})
@example({"p": {"[p]": [[]], "# no comment": [[[], [[]]]], "output: [": ["[x]", "'a' = 1", '"a" = 1']}})
@example(
    {"p": {"huge": [2**64, -(2**64), 10**4000], "float": [1e300, 5e-324, -0.0, 1e16, 1.0], "bool": [True, 1, 1.0]}}
)
def test_round_trip(path: Path, pages: Pages) -> None:
    """A value would come back as another, and its figure be reported as changed on every build, or never."""
    ledger.write(path, pages)
    # As text: for Python, True == 1 == 1.0 and 0.0 == -0.0.
    assert repr(pages) == repr(ledger.read(path))
    assert ledger.text(pages) == path.read_text(encoding="utf-8")


@same_every_run
@given(pages)
@example({"p": {"a'b\" = c": [1], "a'\" = ": [2], "a' = ": [3]}})
@example(
    {"p": {"\x85": ["\x85"], "output: x": ["\u2028'x", "\u2029[x]", '\x0c"x'], "b'\u2028": [1]}, "q'\x85": {"a": [1]}}
)
def test_places(path: Path, pages: Pages) -> None:
    """A message would name the wrong line, or none, or end in a traceback because of what a block prints."""
    ledger.write(path, pages)
    found = ledger.places(path)
    assert {(page, name) for page, entries in pages.items() for name in entries} == set(found)
    # A line counts as in an editor and in a diff: it ends at a line feed.
    lines = path.read_text(encoding="utf-8").split("\n")
    assert len(set(found.values())) == len(found)
    previous = 0
    for (page, name), number in found.items():
        assert previous < number
        previous = number
        # What is before an entry's own line, with that entry's line cut off, does not hold it yet.
        start = ledger.text({page: {name: pages[page][name]}}).split("\n")[len(ledger.HEAD.split("\n")) + 1]
        assert start == lines[number - 1]


def test_places_by_hand(path: Path) -> None:
    """The lines of an example, which look like entries now and then, would be counted as such."""
    ledger.write(path, PAGES)
    first = len(ledger.HEAD.splitlines()) + 2
    assert {
        ("index.md", "legs(3)"): first + 1,
        ("index.md", "names()"): first + 2,
        ("lessons/cats.md", "output: count"): first + 5,
        ("lessons/cats.md", "legs('it')"): first + 10,
        ("lessons/cats.md", "LEGS"): first + 11,
    } == ledger.places(path)


def test_an_example_that_prints_nothing(path: Path) -> None:
    """Its entry would be written and never be read again: every later build would refuse the whole ledger."""
    # The build hands on at least one line: that of an empty text.
    ledger.write(path, {"p": {"output: x": [""]}})
    assert {"p": {"output: x": [""]}} == ledger.read(path)


def test_no_ledger_yet(tmp_path: Path) -> None:
    """The first build of a site would end in a traceback."""
    assert {} == ledger.read(tmp_path / "numbers.lock")


@pytest.mark.parametrize(
    "content",
    [
        b"['index.md'",
        b"['index.md']\n'legs(3)' = [12",
        b"['index.md']\n'legs(3)' = [12]\n'legs(3)' = [12]\n",
        b"['index.md']\n<<<<<<< HEAD\n'legs(3)' = [12]\n=======\n'legs(3)' = [15]\n>>>>>>> other\n",
        b"['index.md']\n'legs(3)' = 12\n",
        b"['index.md']\n'legs(3)' = []\n",
        b"['index.md']\n'legs(3)' = '12'\n",
        b"['index.md']\n'legs(3)' = [{a = 1}]\n",
        b"['index.md']\n'legs(3)' = [2026-11-30]\n",
        b"['index.md']\n['index.md'.more]\na = [1]\n",
        b"'legs(3)' = [12]\n",
        b"['index.md']\n'legs(3)' = ['\xff']\n",
    ],
)
def test_malformed_files(tmp_path: Path, content: bytes) -> None:
    """A slip of the hand, or a merge left half done, would end in a traceback or pass for a ledger."""
    path = tmp_path / "numbers.lock"
    path.write_bytes(content)
    with pytest.raises(LedgerError, match="the ledger cannot be read"):
        ledger.read(path)


def test_a_malformed_file_is_named_with_its_line(tmp_path: Path) -> None:
    """The editor would have to search a file of hundreds of lines."""
    path = tmp_path / "numbers.lock"
    path.write_text("['index.md']\n'a' = [1]\n'b' = [2\n'c' = [3]\n", encoding="utf-8")
    with pytest.raises(LedgerError, match="line 4"):
        ledger.read(path)
    path.write_text("['index.md']\n'a' = 1\n", encoding="utf-8")
    with pytest.raises(LedgerError, match=re.escape("'index.md'")):
        ledger.read(path)


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    """It would end in a traceback."""
    with pytest.raises(LedgerError, match="the ledger cannot be read"):
        ledger.read(tmp_path)


class CrashError(Exception):
    """The machine stops here."""


def crash(*_: Any) -> NoReturn:
    """Stop as a machine would that loses its power."""
    raise CrashError


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
def test_a_crash_leaves_the_old_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """A crash while accepting would leave half a ledger, or litter that gets committed."""
    path = tmp_path / "numbers.lock"
    ledger.write(path, PAGES)
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, step, crash)
        with pytest.raises(CrashError):
            ledger.write(path, {"other.md": {"x": [1]}})
    assert before == path.read_bytes()
    assert [path] == [*tmp_path.iterdir()]
    ledger.write(path, {"other.md": {"x": [1]}})
    assert {"other.md": {"x": [1]}} == ledger.read(path)
    assert [path] == [*tmp_path.iterdir()]


def test_what_cannot_be_written_leaves_the_old_ledger(tmp_path: Path) -> None:
    """A value that no file can hold would cost all the others."""
    path = tmp_path / "numbers.lock"
    ledger.write(path, PAGES)
    with pytest.raises(UnicodeEncodeError):
        ledger.write(path, {"p": {"x": ["\ud800"]}})
    assert PAGES == ledger.read(path)
    assert [path] == [*tmp_path.iterdir()]


def test_everybody_may_read_it(tmp_path: Path) -> None:
    """A temporary file is for its owner alone; the ledger would be too, on a server that another user builds on."""
    path = tmp_path / "numbers.lock"
    ledger.write(path, PAGES)
    assert 0o644 == path.stat().st_mode & 0o777


def test_diff() -> None:
    """The person who accepts would not see what leaves and what comes."""
    new: Pages = {
        "index.md": {"legs(3)": [15, "15"], "names()": [["a", "b"], "a, b"]},
        "lessons/cats.md": {"output: count": ["15 legs", "", "done"], "legs('it')": [0.5, "50 %"]},
        "more.md": {"x": [1, "1"]},
    }
    assert [
        "--- accepted",
        "+++ computed now",
        "-'legs(3)' = [12, \"12\"]",
        "+'legs(3)' = [15, \"15\"]",
        '-  "12 legs",',
        '+  "15 legs",',
        "-'LEGS' = [4, \"four\"]",
        "+",
        "+['more.md']",
        "+'x' = [1, \"1\"]",
    ] == ledger.diff(PAGES, new).split("\n")
    assert "" == ledger.diff(PAGES, PAGES)


def test_diff_of_odd_characters() -> None:
    """A line that holds a line separator would be shown in two, one of them without its sign."""
    said = ledger.diff({"p": {"x": ["a\u2028b"]}}, {"p": {"x": ["a\u2028c\x85d"]}})
    assert ["-'x' = [\"a\u2028b\"]", "+'x' = [\"a\u2028c\x85d\"]"] == said.split("\n")[2:]


def test_what_is_an_example() -> None:
    """An expression would be taken for printed lines, or the other way round."""
    assert ledger.is_example("output: count")
    assert ledger.is_example("picture: strip")
    assert not ledger.is_example("output(count)")
    assert not ledger.is_example("legs(3)")
