"""One figure, one name: normal forms of expressions, read without importing anything."""

import ast
from pathlib import Path

import pytest

from live_numbers.expressions import (
    canonical,
    follow,
    literals,
    names_bound,
    normalise,
    page_names,
    uses_lesson_code,
)

READ = "lesson_code.context_window.tokens_read"


@pytest.fixture
def lessons(tmp_path: Path) -> Path:
    """Make a small package of lessons with re-exports of every kind."""
    files = {
        "__init__.py": "",
        "context_window.py": "import math\nLIMIT = 10\ndef tokens_read(n, m): ...\ndef sum(x): ...\n",
        "memgpt.py": "from lesson_code.context_window import tokens_read as read\n"
        "import lesson_code.context_window as cw\n",
        "chatbot/__init__.py": "from .turns import answer\nfrom ..context_window import LIMIT\n",
        "chatbot/turns.py": "def answer(): return 1\n",
        "starred.py": "from lesson_code.context_window import *\n_hidden = 1\n",
        "_private.py": "",
        "ring_a.py": "from lesson_code.ring_b import x\nfrom lesson_code.ring_b import *\n",
        "ring_b.py": "from lesson_code.ring_a import x\nfrom lesson_code.ring_a import *\n",
    }
    root = tmp_path / "lesson_code"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("expected", "written"),
    [
        ("tokens_read(10, 50)", " tokens_read( 10,50 ) "),
        ("tokens_read(1000, 16)", "tokens_read(1_000, 0x10)"),
        ("f('a', 2 ** 10)", 'f("a", 2**10)'),
        ("f(1, 2)", "f(1,\n  2)"),
        ("'a\\nb'", '"""a\nb"""'),
        ("(1, 2)", "1, 2"),
    ],
)
def test_normal_form(expected: str, written: str) -> None:
    """The same expression spelled differently would be two entries of the ledger."""
    assert expected == normalise(written)


@pytest.mark.parametrize("written", ["", "1 +", "x = 1", "a; b", "f(", "if"])
def test_no_expression(written: str) -> None:
    """A broken expression would give a traceback instead of a message that shows it."""
    with pytest.raises(ValueError, match="not a Python expression"):
        normalise(written)


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("tokens_read(10, 50)", {"tokens_read": READ}),
        ("tr(10, 50)", {"tr": READ}),
        ("context_window.tokens_read(10, 50)", {"context_window": "lesson_code.context_window"}),
        ("lesson_code.context_window.tokens_read(10, 50)", {"lesson_code": "lesson_code"}),
        ("memgpt.read(10, 50)", {"memgpt": "lesson_code.memgpt"}),
        ("memgpt.cw.tokens_read(10, 50)", {"memgpt": "lesson_code.memgpt"}),
    ],
)
def test_all_spellings_of_a_figure_are_one(lessons: Path, written: str, names: dict[str, str]) -> None:
    """A figure asserted under another spelling would be taken for one that no test asserts."""
    assert f"{READ}(10, 50)" == canonical(written, names, lessons)


@pytest.mark.parametrize(
    ("expected", "written"),
    [
        ("[f for f in m.g(m.f)]", "[f for f in g(f)]"),
        ("[m.g(f) for f in (1, 2) if f]", "[g(f) for f in (1, 2) if f]"),
        ("{f: g for f, *g in m.h}", "{f: g for f, *g in h}"),
        ("{f for g in m.g for f in g}", "{f for g in g for f in g}"),
        ("list((m.h[f] for f in m.f))", "list(h[f] for f in f)"),
        ("(lambda f, *g, h=m.h: f + h)(m.f)", "(lambda f, *g, h=h: f + h)(f)"),
        ("(f := m.g(1)) + f", "(f := g(1)) + f"),
        ("max(m.f, len('f'))", "max(f, len('f'))"),
        ("m.f.g.h", "f.g.h"),
        ("m.f(1).g", "f(1).g"),
        ("m.f(g=1)", "f(g=1)"),
        ("f'{m.f:>{m.g}}'", "f'{f:>{g}}'"),
        ("m.f[m.g:m.h, 1:2]", "f[g:h, 1:2]"),
        ("unknown(m.f)", "unknown(f)"),
    ],
)
def test_names_bound_inside_stay(expected: str, written: str) -> None:
    """A loop variable would be taken for lesson code, or lesson code for a loop variable."""
    assert expected == canonical(written, {"f": "m.f", "g": "m.g", "h": "m.h"})


def test_imports() -> None:
    """An import that is not understood would hide an assertion, or make one of something else."""
    lines = {
        "from lesson_code.context_window import tokens_read as tr": {"tr": READ},
        "from lesson_code import memgpt": {"memgpt": "lesson_code.memgpt"},
        "import lesson_code.context_window as cw": {"cw": "lesson_code.context_window"},
        "import lesson_code.starred": {"lesson_code": "lesson_code"},
        "import math, os.path": {"math": "math", "os": "os"},
        "if True:\n    from math import pi": {"pi": "math.pi"},
        "def test():\n    from math import pi": {},
    }
    for text, origins in lines.items():
        sources = names_bound(ast.parse(text).body)
        assert {**origins} == {name: only for name, [only] in sources.items() if isinstance(only, str)}


def test_relative_and_starred_imports(lessons: Path) -> None:
    """Packages of lessons import relatively; a star would bring in names of unknown origin."""
    tree = ast.parse((lessons / "chatbot" / "__init__.py").read_text(encoding="utf-8"))
    expected = {"answer": ["lesson_code.chatbot.turns.answer"], "LIMIT": ["lesson_code.context_window.LIMIT"]}
    assert expected == names_bound(tree.body, "lesson_code.chatbot")
    assert {"deeper": ["lesson_code.a.b.deeper"]} == names_bound(
        ast.parse("from .b import deeper").body, "lesson_code.a"
    )
    assert {"near": ["lesson_code.a.near"]} == names_bound(ast.parse("from . import near").body, "lesson_code.a")
    assert {} == names_bound(ast.parse("from math import *").body)
    own = {
        name for name, origin in page_names(lessons, "starred").items() if "." in origin.removeprefix("lesson_code.")
    }
    assert {"_hidden"} == own


def test_follow_reexports(lessons: Path) -> None:
    """A name imported from one lesson into another would count as a second figure."""
    assert follow("lesson_code.chatbot.answer", lessons) == "lesson_code.chatbot.turns.answer"
    assert follow("lesson_code.chatbot.LIMIT.real", lessons) == "lesson_code.context_window.LIMIT.real"
    assert follow("lesson_code.memgpt.nothing", lessons) == "lesson_code.memgpt.nothing"
    assert follow("math.pi", lessons) == "math.pi"
    assert follow("lesson_code.ring_a.x", lessons) in {"lesson_code.ring_a.x", "lesson_code.ring_b.x"}


def test_a_name_bound_twice_belongs_to_its_module(lessons: Path) -> None:
    """A fallback definition beside an import would be taken for the imported one."""
    text = "try:\n    from lesson_code.memgpt import read\nexcept ImportError:\n    def read(): ...\n"
    (lessons / "both.py").write_text(text, encoding="utf-8")
    assert page_names(lessons, "both")["read"] == "lesson_code.both.read"


def test_page_names(lessons: Path) -> None:
    """A page would not see its own lesson's names, or another lesson's module under its name."""
    names = page_names(lessons, "context_window")
    assert names["tokens_read"] == READ
    assert names["sum"] == "lesson_code.context_window.sum"
    assert names["math"] == "math"
    assert names["memgpt"] == "lesson_code.memgpt"
    assert names["chatbot"] == "lesson_code.chatbot"
    assert "_private" not in names
    assert page_names(lessons, "memgpt")["read"] == READ
    assert page_names(lessons, "chatbot")["answer"] == "lesson_code.chatbot.turns.answer"


def test_page_names_of_every_kind_of_statement(lessons: Path) -> None:
    """A top-level name bound in some rarer way would be unknown on the page."""
    text = """
a, (b, *c) = 1, (2, 3)
d: int = 4
for e in (1,):
    with open("x") as f:
        g = h = 2
class I:
    inside = 1
async def j():
    local = 1
try:
    k = 1
except OSError as l:
    pass
match a:
    case {"x": m, **n}:
        o = 1
    case [p, *q] | (p as q):
        pass
memgpt = 5
"""
    (lessons / "kinds.py").write_text(text, encoding="utf-8")
    names = page_names(lessons, "kinds")
    own = {name for name, origin in names.items() if origin.startswith("lesson_code.kinds.")}
    assert {*"abcdefghIjklmnopq", "memgpt"} == own


def test_edits_are_seen(lessons: Path) -> None:
    """While the site is served, a new name would stay unknown until the next start."""
    assert "later" not in page_names(lessons, "memgpt")
    (lessons / "memgpt.py").write_text("later = 1\n", encoding="utf-8")
    assert page_names(lessons, "memgpt")["later"] == "lesson_code.memgpt.later"


def test_faults_in_lessons_name_the_place(lessons: Path) -> None:
    """A syntax error in a lesson would end the build without saying where it is."""
    path = lessons / "memgpt.py"
    path.write_text("ok = 1\nbroken = (\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"memgpt\.py:2: .*never closed"):
        page_names(lessons, "memgpt")
    with pytest.raises(ValueError, match="no lesson module 'nothing'"):
        page_names(lessons, "nothing")


def test_literals() -> None:
    """A figure typed into its own expression would not be found, and would prove nothing."""
    assert {10, -5, 2.5, "x", 3} == literals("f(10, -5, 2.5, 'x') - 3")
    assert {1, 2, "out "} == literals("a = 1\nprint(f'out {a}', 2, True, None, b'raw', 3j)")
    assert set() == literals("not f(True, None, ...)")
    with pytest.raises(ValueError, match="code:1: "):
        literals("1 +")


def test_uses_lesson_code() -> None:
    """A sum typed on the page would pass for a figure that the lessons compute."""
    assert uses_lesson_code(f"2 * {READ}(10, 50)")
    assert not uses_lesson_code("2 * 50")
    assert not uses_lesson_code("[lesson_code for lesson_code in (1, 2)]")
    assert not uses_lesson_code("len('lesson_code')")
