"""What a test may state a figure with: nothing that could have come from the code it states."""

import ast
from pathlib import Path

import pytest

from live_numbers import independence

LESSON = "from lesson_code.cats import legs\n"
SLOW = "def slow(n):\n    return 4 * n\n"


def how(tmp_path: Path, stated: str, head: str = "", lines: str = "", oracles: str = SLOW) -> str | None:
    """Return how a test with these lines states a value."""
    text = f"{LESSON}{head}\ndef test_it(given):\n    pass\n"
    text += "".join(f"    {line}\n" for line in [*lines.splitlines(), f"assert {stated} == legs(3)"])
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "oracles.py").write_text(oracles, encoding="utf-8")
    (tmp_path / "tests" / "more.py").write_text("from tests.oracles import slow\n", encoding="utf-8")
    (tmp_path / "tests" / "test_cats.py").write_text(text, encoding="utf-8")
    file = independence.TestFile(tmp_path / "tests" / "test_cats.py", tmp_path)
    function = next(node for node in file.tree.body if isinstance(node, ast.FunctionDef) and node.name == "test_it")
    scope = independence.Scope(file, function, file.scope)
    assertion = function.body[-1]
    assert isinstance(assertion, ast.Assert)
    assert isinstance(assertion.test, ast.Compare)
    return independence.how_stated(assertion.test.left, scope)


@pytest.mark.parametrize(
    ("expected", "stated", "head", "lines"),
    [
        ("by hand", "{'a': [4 * 3]}['a'][0]", "", ""),
        ("by hand", "sorted(round(n / 3, 2) for n in range(4))", "", ""),
        ("by hand", "max([1, 2], key=lambda n: -n)", "", ""),
        ("by hand", "total", "", "total = 0\nfor n in range(4):\n    total += n"),
        ("by hand", "sizes", "", "sizes = [3, 4]\nassert sum(sizes) == 7\nassert sizes[0] + len(sizes) == 5"),
        ("by hand", "TABLE[0][1]", "TABLE = ((1, 4), (2, 8))\ndef row(n):\n    return TABLE[n]\n", ""),
        ("by hand", "a + b", "", "a, b = 1, 2"),
        ("by hand", "prod([2, 2])", "from math import prod\n", ""),
        ("by oracle", "slow(n)", SLOW, "n = 2 * LEGS\nLEGS = 4"),
        (
            "by oracle",
            "again(3)",
            SLOW + "def again(n):\n    out = []\n    out.append(slow(n))\n    return out[0]\n",
            "",
        ),
        ("by oracle", "down(3)", "def down(n):\n    return n and down(n - 1)\n", ""),
        ("by oracle", "slow(3)", "from tests.oracles import slow\n", ""),
        ("by oracle", "oracles.slow(3)", "from tests import oracles\n", ""),
    ],
)
def test_independent(tmp_path: Path, expected: str, stated: str, head: str, lines: str) -> None:
    """An honest way to state a value would be refused."""
    assert expected == how(tmp_path, stated, head, lines)


@pytest.mark.parametrize(
    ("stated", "head", "lines"),
    [
        ("given", "", ""),
        ("legs(3)", "", ""),
        ("slow(legs(3))", SLOW, ""),
        ("seen[0]", "", "seen = []\nkeep(seen)"),
        ("seen[0]", "", "seen = []\nother = seen"),
        ("seen[0]", "def sorted(x):\n    x.append(legs(3))\n", "seen = []\nsorted(seen)"),
        ("seen[0][0]", "def fill(x):\n    x.append(legs(3))\n", "seen = [[]]\nlist(map(fill, seen))"),
        ("seen[0]", "", "seen = []\nother = [seen]"),
        ("seen[0][0]", "", "seen = [[]]\nseen[0].append(legs(3))"),
        ("seen[0][0]", "", "seen = [[]]\nseen[0][0] = legs(3)"),
        ("seen[0][0]", "", "seen = [[]]\ninner = seen[0]\ninner.append(legs(3))"),
        ("seen[0][0]", "", "seen = [[]]\nfor inner in seen:\n    inner.append(legs(3))"),
        ("keep(1)[0]", "def keep(n, seen=[]):\n    seen.append(n)\n    return seen\n", "keep(legs(3))"),
        ("keep(1)[0]", "keep = lambda n, seen=[]: seen.append(n) or seen\n", "keep(legs(3))"),
        ("slow(3)", "import functools\n@functools.cache\n" + SLOW, ""),
        ("slow(3)", "def slow(n):\n    import math\n    return math.prod([4, n])\n", ""),
        ("slow(3)", "def make():\n    return lambda n: 4 * n\nslow = make()\n", ""),
        ("Slow().legs", "class Slow:\n    legs = 12\n", ""),
        ("n", "", "(n := 12)"),
        ("n", "", "if (n := 12):\n    pass"),
        ("n", "", "with open('x') as n:\n    pass"),
        ("n", "n = 1\ndef other():\n    global n\n    n = legs(3)\n", ""),
        ("string.legs", "import string\n", "string.legs = legs(3)"),
        ("s.legs", "import string as s, string\n", "string.legs = legs(3)"),
        ("oracles.slow(3)", "from tests import oracles\n", "oracles.slow = legs"),
        ("slow(3)", "from tests.more import slow\n", ""),
        ("slow(3)", "from tests.nothing import slow\n", ""),
        ("approx(3)", "from pytest import approx\n", ""),
    ],
)
def test_not_known_to_be_independent(tmp_path: Path, stated: str, head: str, lines: str) -> None:
    """A value that the code had a hand in would count as evidence."""
    assert how(tmp_path, stated, head, lines) is None


@pytest.mark.parametrize("oracles", ["SEEN = []", "# lesson_code\nSEEN = 1", "import json\nSEEN = json.loads('1')"])
def test_what_other_files_may_bring(tmp_path: Path, oracles: str) -> None:
    """A list that other tests fill, or a file that reaches the code, would pass for a table of constants."""
    assert how(tmp_path, "SEEN", "from tests.oracles import SEEN\n", oracles=oracles) is None
