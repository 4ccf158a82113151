"""Which assertions count for a figure: those that state it independently, run, and pass."""

# The tables of cases read best with a case a line:
# ruff: noqa: E501 -- a table of test files: one a line reads better than one in ten lines

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from live_numbers.evidence import Assertion, Evidence, assertions, run, suggest

LESSON = """
LIMIT = 12
NAMES = ["a", "b"]

def tokens_read(n, m, window=None):
    return sum(m * (2 * i + 1) for i in range(n))

def ratio(n):
    return n / 3

def fits(n):
    return n <= LIMIT
"""
READ = "lesson_code.context_window.tokens_read(10, 50)"
IMPORT = "from lesson_code.context_window import tokens_read, ratio, fits, LIMIT, NAMES\n"
ORACLE = "def slow(n, m):\n    return sum(m * i for i in range(1, 2 * n, 2))\n"

Project = Callable[..., Path]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return a function that writes a small project: its lessons, and the test files given."""

    def write(**tests: str) -> Path:
        files = {
            "lesson_code/__init__.py": "",
            "lesson_code/context_window.py": LESSON,
            "lesson_code/memgpt.py": "from lesson_code.context_window import tokens_read as read\n",
        }
        files |= {f"tests/{name}.py": text for name, text in tests.items()}
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


def found(root: Path) -> list[Assertion]:
    """Return the assertions of a project."""
    return assertions(root / "tests", root / "lesson_code")


def confirmed(root: Path) -> Evidence:
    """Return what a run of a project's tests confirms."""
    return run(found(root), root)


def body(*lines: str, head: str = IMPORT) -> str:
    """Return a test file with one test that consists of these lines."""
    return head + "def test_it():\n" + "".join(f"    {line}\n" for line in lines)


COUNTED = {
    "value first": ("5000", "by hand", body("assert 5000 == tokens_read(10, 50)")),
    "value last": ("5000", "by hand", body("assert tokens_read(10, 50) == 5000")),
    "with a message": ("5000", "by hand", body("assert 5000 == tokens_read(10, 50), 'why'")),
    "arithmetic": ("50 * (1 + 3)", "by hand", body("assert 50 * (1 + 3) == tokens_read(10, 50)")),
    "as written": ("5_000", "by hand", body("assert 5_000 == tokens_read(10, 50)")),
    "after non-ASCII text": ("5000", "by hand", body("x = 'é'; assert 5000 == tokens_read(10, 50)  # ü")),
    "over two lines": ("5000", "by hand", body("assert (", "    5000", "    == tokens_read(10, 50)", ")")),
    "number spelled otherwise": ("5000", "by hand", body("assert 5000 == tokens_read(1_0, 0x32)")),
    "alias": ("1", "by hand", body("assert 1 == tr(10, 50)", head="from lesson_code.context_window import tokens_read as tr\n")),
    "module": ("1", "by hand", body("assert 1 == context_window.tokens_read(10, 50)", head="from lesson_code import context_window\n")),
    "dotted": ("1", "by hand", body("assert 1 == lesson_code.context_window.tokens_read(10, 50)", head="import lesson_code.context_window\n")),
    "re-export": ("1", "by hand", body("assert 1 == read(10, 50)", head="from lesson_code.memgpt import read\n")),
    "imported in the test": ("1", "by hand", body("from lesson_code.context_window import tokens_read as tr", "assert 1 == tr(10, 50)")),
    "chain": ("2", "by hand", body("assert 2 == tokens_read(10, 50) == 3")),
    "local name": ("expected", "by hand", body("n = 10", "expected = 50 * n * n", "assert expected == tokens_read(10, 50)")),
    "module's name": ("EXPECTED", "by hand", body("assert EXPECTED == tokens_read(10, 50)", head=IMPORT + "EXPECTED = 5000\n")),
    "list never touched": ("TABLE[1]", "by hand", body("assert TABLE[1] == tokens_read(10, 50)", head=IMPORT + "TABLE = [1, 5000]\n")),
    "standard library": ("math.prod([50, 100])", "by hand", body("assert math.prod([50, 100]) == tokens_read(10, 50)", head=IMPORT + "import math\n")),
    "comprehension": ("sum(50 * i for i in range(1, 20, 2))", "by hand", body("assert sum(50 * i for i in range(1, 20, 2)) == tokens_read(10, 50)")),
    "its own variable named like the code": ("[tokens_read for tokens_read in (5000,)][0]", "by hand", body("assert [tokens_read for tokens_read in (5000,)][0] == tokens_read(10, 50)")),
    "in a class": ("1", "by hand", IMPORT + "class TestIt:\n    def test_it(self):\n        assert 1 == tokens_read(10, 50)\n"),
    "in a loop": ("1", "by hand", body("for _ in range(2):", "    assert 1 == tokens_read(10, 50)")),
    "beside a fixture": ("1", "by hand", IMPORT + "def test_it(tmp_path):\n    assert 1 == tokens_read(10, 50)\n"),
    "approximately": ("pytest.approx(1)", "by hand", body("assert pytest.approx(1) == tokens_read(10, 50)", head=IMPORT + "import pytest\n")),
    "approximately, turned": ("1", "by hand", body("assert 1 == approx(tokens_read(10, 50))", head=IMPORT + "from pytest import approx\n")),
    "published": ("1", "published", IMPORT + "import pytest\n@pytest.mark.published('card')\ndef test_it():\n    assert 1 == tokens_read(10, 50)\n"),
    "published class": ("1", "published", IMPORT + "import pytest\n@pytest.mark.published('card')\nclass TestIt:\n    def test_it(self):\n        assert 1 == tokens_read(10, 50)\n"),
    "published file": ("1", "published", body("assert 1 == tokens_read(10, 50)", head=IMPORT + "import pytest\npytestmark = [pytest.mark.published('card')]\n")),
    "oracle": ("slow(10, 50)", "by oracle", body("assert slow(10, 50) == tokens_read(10, 50)", head=IMPORT + ORACLE)),
    "oracle's result": ("expected", "by oracle", body("expected = slow(10, 50) + 1", "assert expected == tokens_read(10, 50)", head=IMPORT + ORACLE)),
    "oracle within": ("slow()", "by oracle", body("def slow():", "    return 5000", "assert slow() == tokens_read(10, 50)")),
    "lambda": ("slow()", "by oracle", body("slow = lambda: 5000", "assert slow() == tokens_read(10, 50)")),
    "oracle with the lesson's types": ("slow(10)", "by oracle", body("assert slow(10) == tokens_read(10, 50)", head=IMPORT + "def slow(n: LIMIT) -> LIMIT:\n    x: LIMIT = n\n    return x\n")),
    "oracle also given the code's results": ("slow(10, 50)", "by oracle", body("assert slow(10, 50) == tokens_read(10, 50)", "assert slow(LIMIT, 1) == 144", head=IMPORT + ORACLE)),
    "oracle from another file": ("slow(10, 50)", "by oracle", body("assert slow(10, 50) == tokens_read(10, 50)", head=IMPORT + "from tests.oracles import slow\n")),
    "oracle from the same folder": ("oracles.slow(10, 50)", "by oracle", body("assert oracles.slow(10, 50) == tokens_read(10, 50)", head=IMPORT + "from . import oracles\n")),
}  # fmt: skip


@pytest.mark.parametrize(("expected", "how", "text"), COUNTED.values(), ids=COUNTED.keys())
def test_counts(project: Project, expected: str, how: str, text: str) -> None:
    """A figure stated independently would be refused."""
    root = project(test_context_window=text, oracles=ORACLE)
    one, *others = (a for a in found(root) if a.expression == READ)
    where = "tests/test_context_window.py"
    test = f"{where}::TestIt::test_it" if "class TestIt" in text else f"{where}::test_it"
    line = next(n for n, line in enumerate(text.splitlines(), 1) if "assert " in line)
    assert Assertion(READ, test, where, line, how, expected, "card" if how == "published" else "") == one
    assert others == []


NOT_COUNTED = {
    "the same call": body("assert tokens_read(10, 50) == tokens_read(10, 50)"),
    "another name": body("assert tr(10, 50) == tokens_read(10, 50)", head=IMPORT + "from lesson_code.context_window import tokens_read as tr\n"),
    "through another lesson": body("assert read(10, 50) == tokens_read(10, 50)", head=IMPORT + "from lesson_code.memgpt import read\n"),
    "by assignment": body("expected = tokens_read(10, 50)", "assert expected == tokens_read(10, 50)"),
    "by a chain of names": body("a = tokens_read(10, 50)", "b = a + 0", "assert b == tokens_read(10, 50)"),
    "by unpacking": body("a, *b = [tokens_read(10, 50)] * 2", "assert b[0] == tokens_read(10, 50)"),
    "by walrus": body("if (a := tokens_read(10, 50)):", "    assert a == tokens_read(10, 50)"),
    "by walrus in a comprehension": body("[(a := tokens_read(10, 50)) for _ in 'x']", "assert a == tokens_read(10, 50)"),
    "by walrus within": body("a = 1", "assert (a := a) == (a := tokens_read(10, 50))"),
    "by augmented assignment": body("a = 0", "a += tokens_read(10, 50)", "assert a == tokens_read(10, 50)"),
    "by loop": body("for a in [tokens_read(10, 50)]:", "    assert a == tokens_read(10, 50)"),
    "by with": body("with nullcontext(tokens_read(10, 50)) as a:", "    assert a == tokens_read(10, 50)", head=IMPORT + "from contextlib import nullcontext\n"),
    "by match": body("match [tokens_read(10, 50)]:", "    case [a]:", "        assert a == tokens_read(10, 50)"),
    "by exception": body("try:", "    raise ValueError(tokens_read(10, 50))", "except ValueError as e:", "    assert e.args[0] == tokens_read(10, 50)"),
    "by global": body("assert a == tokens_read(10, 50)", head=IMPORT + "a = 1\ndef setup_module():\n    global a\n    a = tokens_read(10, 50)\n"),
    "by nonlocal": body("a = 1", "def set():", "    nonlocal a", "    a = tokens_read(10, 50)", "set()", "assert a == tokens_read(10, 50)"),
    "by list": body("a = []", "a.append(tokens_read(10, 50))", "assert a[0] == tokens_read(10, 50)"),
    "by item": body("a = {}", "a['x'] = tokens_read(10, 50)", "assert a['x'] == tokens_read(10, 50)"),
    "by attribute": body("A.x = tokens_read(10, 50)", "assert A.x == tokens_read(10, 50)", head=IMPORT + "class A:\n    x = 1\n"),
    "by attribute of a function": body("slow.x = tokens_read(10, 50)", "assert slow() == tokens_read(10, 50)", head=IMPORT + "def slow():\n    return slow.x\n"),
    "by a loop's target": body("for A.x in [tokens_read(10, 50)]:", "    assert A.x == tokens_read(10, 50)", head=IMPORT + "class A:\n    x = 1\n"),
    "by a second name for a list": body("a = []", "b = a", "b.append(tokens_read(10, 50))", "assert a[0] == tokens_read(10, 50)"),
    "by a function that remembers": body("keep(tokens_read(10, 50))", "assert SEEN[0] == tokens_read(10, 50)", head=IMPORT + "SEEN = []\ndef keep(x):\n    SEEN.append(x)\n"),
    "by another test": IMPORT + "SEEN = []\ndef test_a():\n    SEEN.append(tokens_read(10, 50))\ndef test_b():\n    assert SEEN[0] == tokens_read(10, 50)\n",
    "by the module's name": body("assert A == tokens_read(10, 50)", head=IMPORT + "A = tokens_read(10, 50)\n"),
    "by a function": body("assert same() == tokens_read(10, 50)", head=IMPORT + "def same():\n    return tokens_read(10, 50)\n"),
    "by two functions": body("assert a() == tokens_read(10, 50)", head=IMPORT + "def a():\n    return b()\ndef b():\n    return tokens_read(10, 50)\n"),
    "by a function's own import": body("assert a() == tokens_read(10, 50)", head=IMPORT + "def a():\n    from lesson_code.memgpt import read\n    return read(10, 50)\n"),
    "by default": body("assert a() == tokens_read(10, 50)", head=IMPORT + "def a(x=tokens_read(10, 50)):\n    return x\n"),
    "by lambda": body("a = lambda: tokens_read(10, 50)", "assert a() == tokens_read(10, 50)"),
    "by class": body("assert A.x == tokens_read(10, 50)", head=IMPORT + "class A:\n    x = tokens_read(10, 50)\n"),
    "by method": body("assert A().x() == tokens_read(10, 50)", head=IMPORT + "class A:\n    def x(self):\n        return tokens_read(10, 50)\n"),
    "by self": IMPORT + "class TestIt:\n    x = 1\n    def test_it(self):\n        assert self.x == tokens_read(10, 50)\n",
    "by fixture": IMPORT + "import pytest\n@pytest.fixture\ndef a():\n    return tokens_read(10, 50)\ndef test_it(a):\n    assert a == tokens_read(10, 50)\n",
    "by parameter": IMPORT + "import pytest\n@pytest.mark.parametrize('a', [5000])\ndef test_it(a):\n    assert a == tokens_read(10, 50)\n",
    "equal to everything": body("assert A() == tokens_read(10, 50)", head=IMPORT + "class A:\n    def __eq__(self, other):\n        return True\n"),
    "mock.ANY": body("assert ANY == tokens_read(10, 50)", head=IMPORT + "from unittest.mock import ANY\n"),
    "by eval": body("assert eval('tokens_read(10, 50)') == tokens_read(10, 50)"),
    "by globals": body("assert globals()['tokens_read'](10, 50) == tokens_read(10, 50)"),
    "by importlib": body("assert importlib.import_module('x').f() == tokens_read(10, 50)", head=IMPORT + "import importlib\n"),
    "by __import__": body("assert __import__('x').f() == tokens_read(10, 50)"),
    "by importorskip": body("assert pytest.importorskip('x').f() == tokens_read(10, 50)", head=IMPORT + "import pytest\n"),
    "by sys.modules": body("assert sys.modules['x'].f() == tokens_read(10, 50)", head=IMPORT + "import sys\n"),
    "by a module's module": body("assert statistics.sys.modules['x'].f() == tokens_read(10, 50)", head=IMPORT + "import statistics\n"),
    "by dunder": body("assert slow.__globals__['tokens_read'](10, 50) == tokens_read(10, 50)", head=IMPORT + ORACLE),
    "by subprocess": body("assert int(subprocess.check_output(['x'])) == tokens_read(10, 50)", head=IMPORT + "import subprocess\n"),
    "by file": body("assert int(open('x').read()) == tokens_read(10, 50)"),
    "by path": body("assert int(Path('x').read_text()) == tokens_read(10, 50)", head=IMPORT + "from pathlib import Path\n"),
    "by JSON": body("assert json.loads('1') == tokens_read(10, 50)", head=IMPORT + "import json\n"),
    "by a name nobody knows": body("assert nothing == tokens_read(10, 50)"),
    "by __file__": body("assert len(__file__) == tokens_read(10, 50)"),
    "by a helper that uses the code": body("assert helped() == tokens_read(10, 50)", head=IMPORT + "from tests.helper import helped\n"),
    "by a helper of that helper": body("assert helped() == tokens_read(10, 50)", head=IMPORT + "from tests.second import helped\n"),
    "by a helper that reads files": body("assert helped() == tokens_read(10, 50)", head=IMPORT + "from tests.reader import helped\n"),
    "by a helper that remembers": body("keep(tokens_read(10, 50))", "assert SEEN[0] == tokens_read(10, 50)", head=IMPORT + "from tests.keeper import SEEN, keep\n"),
    "by a helper's list": body("SEEN.append(tokens_read(10, 50))", "assert SEEN[0] == tokens_read(10, 50)", head=IMPORT + "from tests.plain import SEEN\n"),
    "by a helper's name": body("plain.x = tokens_read(10, 50)", "assert plain.x == tokens_read(10, 50)", head=IMPORT + "from tests import plain\n"),
    "local variable in the figure": body("n = 10", "assert 5000 == tokens_read(n, 50)"),
    "parameter in the figure": IMPORT + "import pytest\n@pytest.mark.parametrize('n', [10])\ndef test_it(n):\n    assert 5000 == tokens_read(n, 50)\n",
    "test's own function in the figure": body("assert 5000 == slow(tokens_read(10, 50), 1)", head=IMPORT + ORACLE),
    "shadowed code": body("tokens_read = lambda n, m: 5000", "assert 5000 == tokens_read(10, 50)"),
    "code replaced in the file": body("assert 5000 == tokens_read(10, 50)", head=IMPORT + "def tokens_read(n, m):\n    return 5000\n"),
    "code deleted": body("assert 5000 == tokens_read(10, 50)", head=IMPORT + "del tokens_read\n"),
    "code replaced from within": body("assert 5000 == tokens_read(10, 50)", head=IMPORT + "def setup_module():\n    global tokens_read\n    tokens_read = max\n"),
    "builtin replaced": body("assert 5000 == sum([tokens_read(10, 50)])", head=IMPORT + "def sum(x):\n    return 5000\n"),
    "the lesson's star": body("assert 5000 == tokens_read(10, 50)", head="from lesson_code.context_window import *\n"),
    "unknown star": body("assert 5000 == tokens_read(10, 50)", head=IMPORT + "from tests.plain import *\n"),
    "with a tolerance": body("assert tokens_read(10, 50) == pytest.approx(5.0, abs=0.05)", head=IMPORT + "import pytest\n"),
    "two plain numbers": body("assert 5000 == 5_000"),
    "arithmetic against arithmetic": body("assert 50 * 100 == 100 * 50"),
    "not equal": body("assert 5000 != tokens_read(10, 50)"),
    "less than": body("assert 5000 <= tokens_read(10, 50)"),
    "chain with another sign": body("assert 5000 == tokens_read(10, 50) < 6000"),
    "or": body("assert 5000 == tokens_read(10, 50) or True"),
    "not": body("assert not 5000 == tokens_read(10, 50)"),
    "tuple": body("assert (5000 == tokens_read(10, 50), 'x')"),
    "is a number": body("assert tokens_read(10, 50) is 1"),
    "approximately, in a list": body("assert [pytest.approx(1, rel=9)] == [tokens_read(10, 50)]", head=IMPORT + "import pytest\n"),
    "approximately, in a function": body("assert near() == tokens_read(10, 50)", head=IMPORT + "from pytest import approx\ndef near():\n    return approx(1, rel=9)\n"),
    "two on a line": body("assert 5000 == tokens_read(10, 50); assert True"),
    "wide margin": body("assert pytest.approx(1.0, rel=100) == tokens_read(10, 50)", head=IMPORT + "import pytest\n"),
    "wide absolute margin": body("assert pytest.approx(1.0, abs=0.5) == tokens_read(10, 50)", head=IMPORT + "import pytest\n"),
    "margin from the code": body("assert 1.0 == pytest.approx(tokens_read(10, 50), rel=LIMIT)", head=IMPORT + "import pytest\n"),
    "margin by name": body("assert pytest.approx(1.0, rel=R) == tokens_read(10, 50)", head=IMPORT + "import pytest\nR = 9\n"),
    "margin by position": body("assert pytest.approx(1.0, 9) == tokens_read(10, 50)", head=IMPORT + "import pytest\n"),
    "somebody's approx": body("assert 1 == approx(tokens_read(10, 50))", head=IMPORT + "def approx(x):\n    return 1\n"),
    "both from the code, approximately": body("assert approx(tokens_read(10, 50)) == tokens_read(10, 50)", head=IMPORT + "from pytest import approx\n"),
    # The marks in these texts are the case: such a test must not count. They silence no test of this project.
    "skipped": IMPORT + "import pytest\n@pytest.mark.skip\ndef test_it():\n    assert 1 == tokens_read(10, 50)\n",
    "skipped if": IMPORT + "import pytest\n@pytest.mark.skipif(True, reason='x')\ndef test_it():\n    assert 1 == tokens_read(10, 50)\n",
    "expected to fail": IMPORT + "import pytest\n@pytest.mark.xfail(reason='x')\ndef test_it():\n    assert 1 == tokens_read(10, 50)\n",
    "skipped class": IMPORT + "import pytest\n@pytest.mark.skip\nclass TestIt:\n    def test_it(self):\n        assert 1 == tokens_read(10, 50)\n",
    "skipped file": body("assert 1 == tokens_read(10, 50)", head=IMPORT + "import pytest\npytestmark = [pytest.mark.skip]\n"),
    "not a test": IMPORT + "def helper():\n    assert 1 == tokens_read(10, 50)\n",
    "not a test class": IMPORT + "class Helper:\n    def test_it(self):\n        assert 1 == tokens_read(10, 50)\n",
    "coroutine": IMPORT + "async def test_it():\n    assert 1 == tokens_read(10, 50)\n",
    "nested function": body("def inner():", "    assert 1 == tokens_read(10, 50)"),
    "nested class": body("class Inner:", "    assert 1 == tokens_read(10, 50)"),
    "at the top of the file": IMPORT + "assert 5000 == tokens_read(10, 50)\n",
    "text": body("x = '''", "assert 1 == tokens_read(10, 50)", "'''"),
    "generated": "# Generated by a script\n" + body("assert 1 == tokens_read(10, 50)"),
    "generated, another way": '"""Figures.\n\nDO NOT EDIT.\n"""\n' + body("assert 1 == tokens_read(10, 50)"),
    "reads the ledger": "LEDGER = 'docs/numbers.lock'\n" + body("assert 1 == tokens_read(10, 50)"),
    "uses the machinery": "from live_numbers import ledger\n" + body("assert 1 == tokens_read(10, 50)"),
}  # fmt: skip


@pytest.mark.parametrize("text", NOT_COUNTED.values(), ids=NOT_COUNTED.keys())
def test_does_not_count(project: Project, text: str) -> None:
    """A figure would pass for asserted although nothing independent says it."""
    root = project(
        test_context_window=text,
        helper="from lesson_code.context_window import tokens_read\ndef helped():\n    return tokens_read(10, 50)\n",
        second="from tests.helper import helped as first\ndef helped():\n    return first()\n",
        reader="import json\ndef helped():\n    return json.loads('1')\n",
        keeper="SEEN = []\ndef keep(x):\n    SEEN.append(x)\n",
        plain="SEEN = []\nx = 1\n",
    )
    assert found(root) == []


def test_true_false_and_constants(project: Project) -> None:
    """Figures that are no calls, and yes-or-no figures, could not be asserted."""
    lines = [
        "assert True is fits(3)",
        "assert fits(30) is False",
        "assert 12 == LIMIT",
        "assert ['a'] == NAMES[:1]",
    ]
    expected = ["fits(3)", "fits(30)", "LIMIT", "NAMES[:1]"]
    seen = [a.expression for a in found(project(test_it=body(*lines)))]
    assert [f"lesson_code.context_window.{name}" for name in expected] == seen


def test_files(project: Project) -> None:
    """A test in a folder, or under pytest's other file name, would be overlooked, or a helper taken for a test."""
    text = body("assert 1 == tokens_read(10, 50)")
    root = project(test_a=text, b_test=text, helper=text, conftest=text)
    (root / "tests" / "inner").mkdir()
    (root / "tests" / "inner" / "test_c.py").write_text(text, encoding="utf-8")
    assert [a.file for a in found(root)] == ["tests/b_test.py", "tests/inner/test_c.py", "tests/test_a.py"]


def test_a_test_file_that_does_not_parse(project: Project) -> None:
    """A typing slip in a test would end the build without saying where it is."""
    with pytest.raises(ValueError, match=r"^tests/test_a\.py:2: "):
        found(project(test_a=IMPORT + "def ("))


def test_edits_are_seen(project: Project) -> None:
    """While the site is served, a new assertion would not count until the next start."""
    assert found(project(test_a=body("pass"))) == []
    assert [a.expression for a in found(project(test_a=body("assert 1 == tokens_read(10, 50)")))] == [READ]


def test_suggest() -> None:
    """The message for a figure without evidence would not say what to write, or where."""
    expected = "tests/test_context_window.py needs: assert <value worked out by hand> == tokens_read(10, 50)"
    assert expected == suggest(READ, "context_window")
    assert expected == suggest("tokens_read(10, 50)", "context_window")
    assert suggest(READ, "memgpt").endswith("== context_window.tokens_read(10, 50)")


# Running.


def test_what_ran_and_passed_is_confirmed(project: Project) -> None:
    """Correct assertions in all the usual places would be refused."""
    text = IMPORT + "\n".join(
        [
            "import pytest",
            "def test_plain():",
            "    assert 5000 == tokens_read(10, 50)",
            "class TestIt:",
            "    def test_method(self, tmp_path):",
            "        assert pytest.approx(1 / 3) == ratio(1)",
            "@pytest.mark.parametrize('n', [1, 2])",
            "def test_parameters(n):",
            "    assert 20000 == tokens_read(20, 50)",
            "    if n == 2:",
            "        assert 12 == LIMIT",
            "@pytest.mark.published('card')",
            "def test_published():",
            "    assert 2 * 1 == tokens_read(1, 2)",
            "",
        ]
    )
    root = project(test_a=text)
    settings = "[pytest]\nfilterwarnings = error\naddopts = -x -k nothing\nmarkers = published(x): x\n"
    (root / "pytest.ini").write_text(settings, encoding="utf-8")
    result = confirmed(root)
    assert Evidence(frozenset(found(root)), {}, "") == result
    assert len(result.confirmed) == 5
    assert [path for path in root.rglob("*") if path.suffix == ".pyc" or "cache" in path.name] == []


def test_what_did_not_pass_is_refused(project: Project) -> None:
    """An assertion that failed, was swallowed, or never ran would stand as evidence on the page."""
    text = IMPORT + "\n".join(
        [
            "import pytest",
            "from unittest import mock",
            "from lesson_code import context_window",
            "def test_wrong():",
            "    assert 5001 == tokens_read(10, 50)",
            "def test_dead_branch():",
            "    if LIMIT > 100:",
            "        assert 5000 == tokens_read(10, 50)",
            "def test_skipped_in_time():",
            "    assert 5000 == tokens_read(10, 50)",
            "    pytest.skip('never mind')",
            "def test_expected_in_time(request):",
            "    request.applymarker(pytest.mark.xfail(reason='x'))",
            "    assert 5000 == tokens_read(10, 50)",
            "    assert 5001 == tokens_read(10, 50)",
            "def test_swallowed():",
            "    with pytest.raises(AssertionError):",
            "        assert 5001 == tokens_read(10, 50)",
            "@pytest.mark.parametrize('n', [1, 2])",
            "def test_one_of_two(n):",
            "    assert 5000 == tokens_read(10, 50)",
            "    assert n == 1",
            "@pytest.fixture",
            "def breaks():",
            "    yield",
            "    raise ValueError",
            "def test_teardown(breaks):",
            "    assert 5000 == tokens_read(10, 50)",
            "def test_replaced(monkeypatch):",
            "    monkeypatch.setattr(context_window, 'tokens_read', lambda n, m: 1)",
            "    assert 1 == context_window.tokens_read(10, 50)",
            "@mock.patch.object(context_window, 'LIMIT', 9)",
            "def test_replaced_constant():",
            "    assert 9 == context_window.LIMIT",
            "class TestNever:",
            "    def __init__(self):",
            "        pass",
            "    def test_it(self):",
            "        assert 5000 == tokens_read(10, 50)",
            "def test_twice():",
            "    assert 5000 == tokens_read(10, 50)",
            "def test_twice():",
            "    assert 5000 == tokens_read(10, 50)",
            "",
        ]
    )
    root = project(test_a=text, test_broken=body("assert 1 == tokens_read(1, 1)", head=IMPORT + "raise ValueError\n"))
    result = confirmed(root)
    reasons = {(one.test.partition("::")[2], one.line): reason for one, reason in result.refused.items()}
    not_run = "the line did not run, or ran while the lesson code was replaced"
    assert {
        ("test_wrong", 6): "the test: failed",
        ("test_dead_branch", 9): not_run,
        ("test_skipped_in_time", 11): "the test: skipped",
        ("test_expected_in_time", 15): "the test: expected to fail",
        ("test_expected_in_time", 16): "the test: expected to fail",
        ("test_swallowed", 19): not_run,
        ("test_one_of_two", 22): "the test: failed",
        ("test_teardown", 29): "the test: failed",
        ("test_replaced", 32): not_run,
        ("test_replaced_constant", 35): not_run,
        ("TestNever::test_it", 40): "pytest did not collect the test",
        ("test_twice", 42): not_run,
        ("test_it", 4): "pytest did not collect the test",
    } == reasons
    assert [(a.test.partition("::")[2], a.line) for a in result.confirmed] == [("test_twice", 44)]
    assert "5001 == 5000" in result.output


def test_only_the_tests_with_assertions_run(project: Project) -> None:
    """Every build would run the whole test suite."""
    text = body("assert 5000 == tokens_read(10, 50)")
    text += "def test_other():\n    open('ran', 'w').close()\n"
    root = project(test_a=text, test_b="def test_it():\n    open('ran', 'w').close()\n")
    assert len(confirmed(root).confirmed) == 1
    assert not (root / "ran").exists()


def test_compiled_files_of_ordinary_runs_are_left_alone(project: Project) -> None:
    """After an ordinary test run nothing would be confirmed, or old lesson code would be."""
    root = project(test_a=body("assert 5000 == tokens_read(10, 50)"))
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "pytest", "-q", "--rootdir", str(root), "tests"]
    subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)
    assert list(root.glob("tests/__pycache__/*pytest*.pyc")) != []
    assert len(confirmed(root).confirmed) == 1
    lesson = root / "lesson_code" / "context_window.py"
    written = lesson.stat()
    lesson.write_text(LESSON.replace("2 * i + 1", "3 * i + 1"), encoding="utf-8")
    os.utime(lesson, ns=(written.st_atime_ns, written.st_mtime_ns))
    assert list(confirmed(root).refused.values()) == ["the test: failed"]


def test_nothing_to_run(tmp_path: Path) -> None:
    """A project without figures would start pytest for nothing, and fail."""
    assert Evidence(frozenset(), {}) == run([], tmp_path)


def test_pytest_that_does_not_start(project: Project) -> None:
    """If pytest itself fails, every assertion would silently stay confirmed, or the build end in a traceback."""
    root = project(test_a=body("assert 5000 == tokens_read(10, 50)"))
    (root / "pytest.ini").write_text("[pytest]\nrequired_plugins = no-such-plugin\n", encoding="utf-8")
    result = confirmed(root)
    assert list(result.refused.values()) == ["the tests could not be run"]
    assert "no-such-plugin" in result.output


def test_record_is_plain_json(project: Project) -> None:
    """The file between the two processes would not say which lines of which test passed."""
    root = project(test_a=body("assert 5000 == tokens_read(10, 50)"))
    file = root / "evidence.json"
    file.write_text(json.dumps(["tests/test_a.py::test_it"]), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "live_numbers.pytest_evidence", "--evidence", str(file)]
    command += ["-o", "enable_assertion_pass_hook=true", "--rootdir", str(root), "tests/test_a.py"]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    expected = {"outcome": "passed", "lines": [[str(root / "tests" / "test_a.py"), 3]]}
    assert {"tests/test_a.py::test_it": expected} == json.loads(file.read_text(encoding="utf-8"))
