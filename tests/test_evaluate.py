"""Values and output from a process of its own: what lesson code may do to it, and what comes back."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from live_numbers.dependencies import Code
from live_numbers.evaluate import Evaluator, Outcome
from live_numbers.forms import Value
from live_numbers.project import Project
from live_numbers.worker import Broken

CATS = '''\
"""Cats."""

LEGS = 4


def legs(cats):
    """Count the legs.

    >>> legs(3)
    12
    >>> legs(0)
    0
    """
    return cats * LEGS


def fails(cats):
    """Never come back with anything."""
    raise ValueError(f"no {cats}")
'''

Make = Callable[..., Evaluator]


def write(root: Path, **files: str) -> Project:
    """Write a small package of lessons."""
    folder = root / "lesson_code"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"__init__": "", "cats": CATS, **files}.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
    return Project(root)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Return a function that makes an evaluator for modules given as text; all are closed at the end."""
    made: list[Evaluator] = []

    def evaluator(seconds: float = 60, **files: str) -> Evaluator:
        project = write(tmp_path / f"project{len(made)}", **files)
        made.append(Evaluator(project, Code(project), seconds))
        return made[-1]

    yield evaluator
    for one in made:
        one.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evaluator]:
    """One evaluator for all tests whose code leaves its interpreter in order: starting one takes its time."""
    project = write(tmp_path_factory.mktemp("shared"))
    evaluator = Evaluator(project, Code(project))
    yield evaluator
    evaluator.close()


def same(expected: Value, value: Value | None) -> bool:
    """Whether both are equal and of one type: for Python, True equals 1."""
    return repr(expected) == repr(value)


# Figures.


@pytest.mark.parametrize(
    ("expected", "expression"),
    [
        (3 * 4, "lesson_code.cats.legs(3)"),
        (4, "lesson_code.cats.LEGS"),
        (4 / 3, "lesson_code.cats.LEGS / 3"),
        (2.0, "lesson_code.cats.LEGS / 2"),
        (True, "lesson_code.cats.LEGS == 4"),
        ("four", "{4: 'four'}[lesson_code.cats.LEGS]"),
        ("", "''"),
        (" \n\t\x00é\u2028", "' \\n\\t\\x00é\\u2028'"),
        ([1, 2], "[1, 2]"),
        ([1, 2], "(1, 2)"),
        ([], "()"),
        ([[1, "a"], [2.5, True], []], "[(1, 'a'), [2.5, True], ()]"),
        (2**200, "2 ** 200"),
        (-(10**4000), "-10 ** 4000"),
        (5e-324, "5e-324"),
        (0.1 + 0.2, "0.1 + 0.2"),
        (-0.0, "-0.0"),
        (4, "max(lesson_code.cats.LEGS for _ in range(3))"),
    ],
)
def test_values(shared: Evaluator, expected: Value, expression: str) -> None:
    """A value would be changed on its way out of the process."""
    outcome = shared.figure(expression)
    assert "" == outcome.error
    assert same(expected, outcome.value)


@pytest.mark.parametrize(
    ("says", "expression"),
    [
        # With the file and the line where they come from.
        ("ValueError: no 3 (lesson_code/cats.py, line 19)", "lesson_code.cats.fails(3)"),
        ("TypeError: can't multiply sequence by non-int", "lesson_code.cats.legs([]) * 'a'"),
        ("ZeroDivisionError: division by zero", "1 / 0"),
        ("AttributeError: module 'lesson_code.cats' has no attribute 'paws'", "lesson_code.cats.paws"),
        ("NameError: name 'cats' is not defined", "cats"),
        ("SyntaxError: ", "1 +"),
        # Types that no page can write.
        ("the value is a NoneType", "None"),
        ("the value is a dict", "{}"),
        ("the value is a set", "{1}"),
        ("the value is a complex", "1j"),
        ("the value is a bytes", "b'a'"),
        ("the value is a function", "lesson_code.cats.legs"),
        ("the value is a module", "lesson_code.cats"),
        ("the value is a generator", "(i for i in [])"),
        ("the value is a NoneType", "[1, [2, None]]"),
        # Numbers that are none, or too long.
        ("the value is nan, not a finite number", "float('nan')"),
        ("the value is inf, not a finite number", "float('inf')"),
        ("the value is -inf, not a finite number", "[1, float('-inf')]"),
        ("the value cannot be written", "10 ** 5000"),
        ("the value cannot be written", "[1, 10 ** 5000]"),
        # A text that no file can hold.
        ("UnicodeEncodeError", "'\\ud800'"),
        ("UnicodeEncodeError", "['\\ud800']"),
        # What is no error at all elsewhere.
        ("the code called sys.exit(3)", "__import__('sys').exit(3)"),
        ("KeyboardInterrupt", "(_ for _ in ()).throw(KeyboardInterrupt)"),
        ("EOFError", "input()"),
        ("RecursionError", "(f := lambda: f())()"),
    ],
)
def test_errors(shared: Evaluator, says: str, expression: str) -> None:
    """A figure that cannot be computed would be published as something, or its author not learn why."""
    outcome = shared.figure(expression)
    assert says in outcome.error
    assert "\n" not in outcome.error
    assert outcome.value is None
    assert outcome.broken is None
    # The interpreter is in order.
    assert 12 == shared.figure("lesson_code.cats.legs(3)").value


def test_a_figure_prints_nowhere(shared: Evaluator) -> None:
    """What a function prints would be taken for the answer to the question."""
    assert Outcome(5) == shared.figure('print(\'{"number": 0, "value": 7}\') or 5')


# Blocks.


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        ("12\n", "from lesson_code.cats import legs\nprint(legs(3))"),
        ("", ""),
        ("", "x = 1"),
        ("a\nb", "print('a')\nprint('b', end='')"),
        ("é 語 😀\n", "print('é 語 😀')"),
        ("__main__\n", "print(__name__)"),
        ("1\n", "def f():\n    return X\nX = 1\nprint(f())"),
        # Whatever reaches standard output, and in which order.
        ("a\n", "import os\nos.write(1, b'a\\n')"),
        ("a\nb\n", "import os\nprint('a', flush=True)\nos.write(1, b'b\\n')"),
        ("a\n", "import sys\nsys.stdout.write('a\\n')"),
        ("a\n", "import sys\nsys.stdout.buffer.write(b'a\\n')"),
        ("a\n", "import sys\nsys.__stdout__.write('a\\n')\nsys.__stdout__.flush()"),
        ("child\n", "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'print(\"child\")'], check=True)"),
        ("a\n", "import threading\nt = threading.Thread(target=print, args=('a',))\nt.start()\nt.join()"),
        # What is collected on purpose, and what goes elsewhere, is not shown.
        ("", "import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()):\n    print('a')"),
        # Control characters, written out; a token of the site would be one of these.
        ("\\x1b[31mred\n", "print('\\x1b[31mred')"),
        ("a\\rb\\x00\\x7f\\x85\n", "print('a\\rb\\x00\\x7f\\x85')"),
        ("\\U000f0000\\u2028\\ue000\n", "print('\\U000f0000\\u2028\\ue000')"),
        ("a\tb\n", "print('a\\tb')"),
        ("a\ufffdb", "import os\nos.write(1, b'a\\xffb')"),
    ],
)
def test_output(shared: Evaluator, expected: str, code: str) -> None:
    """An example would show other output than its reader gets."""
    outcome = shared.block(code)
    assert (expected, "") == (outcome.value, outcome.error)


@pytest.mark.parametrize(
    ("says", "code"),
    [
        ('File "<example>", line 2, in <module>', "x = 1\n1 / 0"),
        ("ZeroDivisionError: division by zero", "x = 1\n1 / 0"),
        ("lesson_code/cats.py", "from lesson_code import cats\ncats.fails(3)"),
        ("ValueError: no 3", "from lesson_code import cats\ncats.fails(3)"),
        ("SyntaxError", "print("),
        ("NameError: name 'LEFT' is not defined", "print(LEFT)"),
        ("EOFError", "input()"),
        ("the code called sys.exit(0)", "import sys\nprint('a')\nsys.exit(0)"),
        ("the code called sys.exit(None)", "exit()"),
        ("the code called sys.exit('bye')", "raise SystemExit('bye')"),
        ("KeyboardInterrupt", "raise KeyboardInterrupt"),
        ("UnicodeEncodeError", "print('\\ud800')"),
        ("\\x1b[31m", "raise ValueError('\\x1b[31m')"),
    ],
)
def test_failing_blocks(shared: Evaluator, says: str, code: str) -> None:
    """An example that fails would be published with half its output, or end the build as if all were well."""
    outcome = shared.block(code)
    assert says in outcome.error
    assert "worker.py" not in outcome.error
    assert outcome.value is None
    assert Outcome("fine\n") == shared.block("print('fine')")


def test_blocks_share_no_names(shared: Evaluator) -> None:
    """An example would only work below another, and change with it."""
    assert Outcome("") == shared.block("LEFT = 1")
    assert "NameError" in shared.block("print(LEFT) # again").error


@pytest.mark.parametrize("character", ["x", "é", "語", "😀"])
def test_the_longest_output(shared: Evaluator, character: str) -> None:
    """Output would be cut off in silence: what counts is its characters, and not the bytes they take."""
    assert Outcome(character * 20_000) == shared.block(f"print({character!r} * 20_000, end='')")
    assert Outcome(error="the block prints more than 20,000 characters") == shared.block(
        f"print({character!r} * 20_001, end='')"
    )
    assert "more than 20,000 characters" in shared.block(f"print({character!r} * 200_000)").error


@pytest.mark.parametrize(
    "code",
    [
        "import sys\nsys.stdout.close()",
        "import sys\nsys.stdout = None",
        "import sys\ndel sys.stdout",
        "import sys\nsys.stdout = open('/dev/null', 'w')",
        "import io, sys\nsys.stdout = io.StringIO()\nprint('lost')",
        "import sys\nsys.stdin.close()",
        "import sys\nsys.stdin = sys.stderr = None",
        "import os\nos.close(1)",
        "import os\nos.close(0)",
        "import sys\nsys.stdout.detach()",
        "import sys\nsys.__stdout__ = None",
    ],
)
def test_streams_are_put_back(make: Make, code: str) -> None:
    """After an example that plays with its streams, all others would print nothing, or be taken for answers."""
    evaluator = make()
    first = evaluator.block(code)
    assert isinstance(first.value, str) or first.error
    assert Outcome("fine\n") == evaluator.block("print('fine')")
    assert Outcome("written\n") == evaluator.block("import os\nos.write(1, b'written\\n')")
    assert "EOFError" in evaluator.block("input()").error
    assert Outcome(12) == evaluator.figure("lesson_code.cats.legs(3)")


def test_a_fork_answers_nothing(make: Make) -> None:
    """A child would go on answering beside its parent, and every figure after it get the answer of another."""
    evaluator = make()
    fork = (
        "import os\nchild = os.fork()\nif child:\n    os.waitpid(child, 0)\nprint('child' if child == 0 else 'parent')"
    )
    assert Outcome("child\nparent\n", needs=("processes",)) == evaluator.block(fork)
    fork = "[os.waitpid(child, 0)[1] if (child := os.fork()) else 1 for os in [__import__('os')]]"
    assert Outcome([0]) == evaluator.figure(fork)
    for cats in range(5):
        assert Outcome(cats * 4) == evaluator.figure(f"lesson_code.cats.legs({cats})")
    assert Outcome("fine\n") == evaluator.block("print('fine')")


@pytest.mark.parametrize(
    ("says", "code"),
    [
        ("exit status 0", "import os\nos._exit(0)"),
        ("exit status 7", "import os\nprint('a')\nos._exit(7)"),
        ("exit status -9", "import os\nos.kill(os.getpid(), 9)"),
        ("exit status 0", "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'print(1)'])"),
    ],
)
def test_an_interpreter_that_ends(make: Make, says: str, code: str) -> None:
    """The build would wait for ever, or all figures after it would fail."""
    evaluator = make()
    assert f"the code ended the interpreter ({says})" == evaluator.block(code).error
    assert Outcome(12) == evaluator.figure("lesson_code.cats.legs(3)")
    assert f"the code ended the interpreter ({says})" == evaluator.block(code + "\n").error
    assert Outcome("fine\n") == evaluator.block("print('fine')")


def test_code_that_writes_between_the_answers(make: Make) -> None:
    """A line that is no answer would end the build in a traceback, or be taken for one."""
    evaluator = make()
    junk = "import contextlib, os\nfor fd in range(3, 20):\n    with contextlib.suppress(OSError):\n"
    junk += "        os.write(fd, b'junk\\n')"
    assert "disturbs the interpreter" in evaluator.block(junk).error
    assert Outcome(12) == evaluator.figure("lesson_code.cats.legs(3)")
    forged = junk.replace("junk", '{"number": 7, "value": 5}')
    assert "disturbs the interpreter" in evaluator.block(forged).error
    assert Outcome(16) == evaluator.figure("lesson_code.cats.legs(4)")


def hurry(evaluator: Evaluator) -> None:
    """Shorten the time limit of a worker that is ready, so that no test depends on how fast one starts."""
    worker = evaluator._ready()
    assert worker.failure == ""
    worker.seconds = 0.1


def test_runaways_are_stopped_and_do_not_add_up(make: Make) -> None:
    """An endless loop would hang the build; a hundred figures through one would take a hundred time limits."""
    evaluator = make()
    assert Outcome(12) == evaluator.figure("lesson_code.cats.legs(3)")
    stopped = "stopped: it did not end within 0.1 seconds"
    hurry(evaluator)
    assert stopped == evaluator.block("while True: pass").error
    assert Outcome(16) == evaluator.figure("lesson_code.cats.legs(4)")
    hurry(evaluator)
    assert stopped == evaluator.figure("[1 for _ in iter(int, 1)]").error
    hurry(evaluator)
    assert stopped == evaluator.block("import threading\nthreading.Event().wait()").error
    for cats in range(5, 50):
        assert "not run, because 3 others ran away" == evaluator.figure(f"lesson_code.cats.legs({cats})").error
    # What is known stays known.
    assert Outcome(12) == evaluator.figure("lesson_code.cats.legs(3)")


# Modules that cannot be imported.


@pytest.mark.parametrize(
    ("line", "what", "text"),
    [
        (3, "ZeroDivisionError: division by zero", "x = 1\n\ny = 1 / 0\n"),
        (2, "ModuleNotFoundError: No module named 'no_such_module'", "x = 1\nimport no_such_module\n"),
        (2, "SyntaxError: invalid syntax", "x = 1\nx = = 2\n"),
        (1, "the code called sys.exit(0)", "import sys; sys.exit(0)\n"),
        (1, "ImportError: cannot import name 'paws' from 'lesson_code.cats'", "from lesson_code.cats import paws\n"),
        (1, "KeyboardInterrupt", "raise KeyboardInterrupt\n"),
    ],
)
def test_a_broken_module(make: Make, line: int, what: str, text: str) -> None:
    """One module in the middle of an edit would take all the others down, or its editor not learn where it breaks."""
    evaluator = make(dogs=text)
    outcome = evaluator.figure("lesson_code.dogs.bark(1)")
    assert outcome.broken is not None
    assert ("lesson_code/dogs.py", line) == (outcome.broken.file, outcome.broken.line)
    assert outcome.broken.what.startswith(what)
    assert outcome.error.startswith(f"lesson_code.dogs cannot be imported: {what}")
    assert outcome.broken == evaluator.doctest("lesson_code.dogs").broken
    assert Outcome(12) == evaluator.figure("lesson_code.cats.legs(3)")
    assert Outcome("fine\n") == evaluator.block("from lesson_code import cats\nprint('fine')")
    # A name that only begins alike is another.
    assert outcome.broken != evaluator.figure("lesson_code.dogs_too").broken


def test_a_broken_import_names_where_it_breaks(make: Make) -> None:
    """The message would send its reader to a module that is in order."""
    evaluator = make(birds="from lesson_code.dogs import bark\n", dogs="\n\nraise ValueError('woof')\n")
    for module in ("birds", "dogs"):
        broken = evaluator.figure(f"lesson_code.{module}.x").broken
        assert Broken("lesson_code/dogs.py", 3, "ValueError: woof") == broken


def test_a_broken_package(make: Make) -> None:
    """Every figure would fail with an error of its own, and none say what is wrong."""
    evaluator = make(__init__="x = 1\nraise ValueError('no')\n")
    outcome = evaluator.figure("lesson_code.cats.legs(3)")
    assert Broken("lesson_code/__init__.py", 2, "ValueError: no") == outcome.broken


@pytest.mark.parametrize("text", ["while True:\n    pass\n", "import os\nos._exit(3)\n"])
def test_a_module_that_never_gets_ready(make: Make, text: str) -> None:
    """The build would wait for ever, once for each figure."""
    evaluator = make(seconds=0.1, dogs=text)
    for cats in range(20):
        error = evaluator.figure(f"lesson_code.cats.legs({cats})").error
        assert error.startswith("lesson_code cannot be imported: ")
        assert "did not end within 0.1 seconds" in error or "exit status 3" in error


def test_a_module_that_prints(make: Make) -> None:
    """What a module prints while it is imported would be taken for an answer."""
    evaluator = make(dogs="print('ready')\nimport os\nos.write(1, b'{}\\n')\nWOOF = 3\n")
    assert Outcome(3) == evaluator.figure("lesson_code.dogs.WOOF")


# Docstrings.


def test_doctests(make: Make) -> None:
    """A false example in a docstring would be shown on the page as true."""
    evaluator = make(
        dogs='def bark():\n    """Bark.\n\n    >>> bark()\n    3\n    >>> 1 + 1\n    2\n    """\n    return 2\n',
        birds="",
    )
    assert Outcome(2) == evaluator.doctest("lesson_code.cats")
    assert Outcome(0) == evaluator.doctest("lesson_code.birds")
    error = evaluator.doctest("lesson_code.dogs").error
    assert 'lesson_code/dogs.py", line 4' in error
    assert "Expected:\n    3\nGot:\n    2" in error
    assert "no_such" in evaluator.doctest("lesson_code.no_such").error


# A second opinion.


UNSTABLE = ["seed", "order", "zone", "home", "width", "chance", "asked", "fails"]


def test_stability(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A figure that depends on the machine, the moment or the order would change for the next person."""
    monkeypatch.setenv("HOME", "/somewhere")
    evaluator = make(
        dogs="""\
            import itertools, os, random, shutil, time

            counter = itertools.count()


            def seed():
                return hash("woof")


            def order():
                return list({"a", "b", "c", "d", "e", "f", "g", "h"})


            def zone():
                return [time.tzname[0], time.localtime(0).tm_mday, time.localtime(0).tm_hour]


            def home():
                return os.path.expanduser("~")


            def width():
                return shutil.get_terminal_size().columns


            def chance():
                return random.random()


            def asked():
                return next(counter)


            def fails():
                raise ValueError(hash("woof"))


            def chosen():
                return random.Random(7).random()
            """
    )
    unstable = [f"lesson_code.dogs.{name}()" for name in UNSTABLE]
    unstable.append("lesson_code.dogs.asked() + 0")
    stable = ["lesson_code.dogs.chosen()", "lesson_code.cats.legs(3)", "1 / 3", "1 / 0", "'a'"]
    for expression in unstable + stable:
        evaluator.figure(expression)
    found = evaluator.stable("figure", unstable + stable)
    assert dict.fromkeys(unstable, False) | dict.fromkeys(stable, True) == found
    block, other = "print(hash('a'))", "print(1)"
    assert {block: False, other: True} == evaluator.stable("block", [block, other])


def test_stability_survives_an_end(make: Make) -> None:
    """After code that ends its interpreter, all that is left to ask would be called unstable."""
    evaluator = make()
    end = "import os\nos._exit(3)"
    assert {"print(1)": True, end: True, "print(2)": True} == evaluator.stable("block", ["print(1)", end, "print(2)"])


def test_the_surroundings_are_pinned(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build would show other figures for other people."""
    for name, value in {"PYTHONHASHSEED": "5", "TZ": "Asia/Tokyo", "LC_ALL": "tr_TR.UTF-8", "COLUMNS": "40"}.items():
        monkeypatch.setenv(name, value)
    evaluator = make()
    code = "import shutil, sys, time\nwidth = shutil.get_terminal_size().columns\n"
    code += "print(time.tzname[0], width, sys.flags.hash_randomization)"
    assert Outcome("UTC 80 0\n") == evaluator.block(code)


# Asked once.


def test_an_expression_is_evaluated_once(make: Make) -> None:
    """A slow simulation that a page quotes ten times would run ten times, and could differ from itself."""
    evaluator = make(dogs="import itertools\ncounter = itertools.count()\n")
    assert 0 == evaluator.asked
    for _ in range(5):
        assert Outcome(0) == evaluator.figure("next(lesson_code.dogs.counter)")
    assert 1 == evaluator.asked
    assert Outcome(1) == evaluator.figure("next(lesson_code.dogs.counter) ")
    assert Outcome("2\n") == evaluator.block("from lesson_code import dogs\nprint(next(dogs.counter))")
    assert Outcome("2\n") == evaluator.block("from lesson_code import dogs\nprint(next(dogs.counter))")
    assert 3 == evaluator.asked
    # An expression and a block of the same text are two questions.
    assert Outcome("") == evaluator.block(
        "next(lesson_code.dogs.counter)".replace("lesson_code.dogs.counter", "iter('a')")
    )
    assert Outcome("a") == evaluator.figure("next(iter('a'))")


def test_answers_outlive_the_worker(make: Make) -> None:
    """A second build of the server would start an interpreter for nothing, or a closed one would never answer again."""
    evaluator = make()
    evaluator.start()
    assert Outcome(12) == evaluator.figure("lesson_code.cats.legs(3)")
    evaluator.close()
    evaluator.close()
    assert Outcome(12) == evaluator.figure("lesson_code.cats.legs(3)")
    assert 1 == evaluator.asked
    assert Outcome(16) == evaluator.figure("lesson_code.cats.legs(4)")


def test_for_whom_answers_hold(make: Make, tmp_path: Path) -> None:
    """After an edit, the server would go on showing the figures of the old code."""
    one = make()
    again = Evaluator(one.project, Code(one.project), 60)
    assert one.answers_for(again)
    write(one.project.root, cats=CATS.replace("LEGS = 4", "LEGS = 5"))
    edited = Evaluator(one.project, Code(one.project), 60)
    assert not one.answers_for(edited)
    assert not one.answers_for(make())
    assert not again.answers_for(Evaluator(one.project, again.code, 61))


def test_an_edit_leaves_the_answers_of_other_code(make: Make) -> None:
    """An edit of one lesson would compute every simulation again, or leave an old figure of its own on the page."""
    one = make(dogs="def legs(dogs):\n    return dogs * 4\n", fails="")
    root = one.project.root
    assert [Outcome(12), Outcome(8)] == [one.figure("lesson_code.cats.legs(3)"), one.figure("lesson_code.dogs.legs(2)")]
    assert one.block("from lesson_code.dogs import legs\nprint(legs(1))") == Outcome("4\n")
    assert "no 3" in one.figure("lesson_code.cats.fails(3)").error
    assert 4 == one.asked
    write(root, cats=CATS.replace("LEGS = 4", "LEGS = 5"))
    two = Evaluator(one.project, Code(one.project), 60)
    two.take_over(one)
    assert [Outcome(15), Outcome(8)] == [two.figure("lesson_code.cats.legs(3)"), two.figure("lesson_code.dogs.legs(2)")]
    assert Outcome("4\n") == two.block("from lesson_code.dogs import legs\nprint(legs(1))")
    assert 1 == two.asked
    two.close()

    write(root, cats=CATS.replace("LEGS = 4", "LEGS = 5"), dogs="def legs(dogs):\n    return dogs * 3\n")
    three = Evaluator(one.project, Code(one.project), 60)
    three.take_over(two)
    assert [Outcome(15), Outcome(6)] == [
        three.figure("lesson_code.cats.legs(3)"),
        three.figure("lesson_code.dogs.legs(2)"),
    ]
    assert "no 3" in three.figure("lesson_code.cats.fails(3)").error  # what failed is tried again
    assert 2 == three.asked
    three.close()


def test_nothing_is_taken_over_from_another_project(make: Make) -> None:
    """Two sites of one process would show each other's figures."""
    one, other = make(), make()
    assert Outcome(12) == one.figure("lesson_code.cats.legs(3)")
    other.take_over(one)
    assert Outcome(12) == other.figure("lesson_code.cats.legs(3)")
    assert 1 == other.asked


# Asked ahead.


def test_questions_ahead(make: Make) -> None:
    """The answers would come in another order than the questions, and every figure be that of another expression."""
    evaluator = make(dogs="import itertools\ncounter = itertools.count()\n")
    expressions = [f"lesson_code.cats.legs({cats}) + 0 * next(lesson_code.dogs.counter)" for cats in range(50)]
    evaluator.ahead(expressions[:30])
    evaluator.ahead(expressions)
    evaluator.ahead([])
    assert Outcome("50\n") == evaluator.block("from lesson_code import dogs\nprint(next(dogs.counter))")
    for cats in reversed(range(50)):
        assert Outcome(cats * 4) == evaluator.figure(expressions[cats])
    assert 50 + 1 == evaluator.asked


def test_an_end_among_the_questions_ahead(make: Make) -> None:
    """The answers before it would be waited for in vain, and those behind it fail though nothing is wrong with them."""
    evaluator = make()
    end = "__import__('os')._exit(3)"
    evaluator.ahead(["lesson_code.cats.legs(1)", end, "lesson_code.cats.legs(2)"])
    assert evaluator._worker is not None
    assert 3 == evaluator._worker.process.wait()
    assert Outcome(4) == evaluator.figure("lesson_code.cats.legs(1)")
    assert Outcome(8) == evaluator.figure("lesson_code.cats.legs(2)")
    assert "the code ended the interpreter (exit status 3)" == evaluator.figure(end).error
    assert Outcome(12) == evaluator.figure("lesson_code.cats.legs(3)")


LOOP = "[1 for _ in iter(int, 1)]"
MANY = [LOOP, *(f"lesson_code.cats.legs({cats})" for cats in range(10_000))]


def test_a_runaway_before_many_questions(make: Make) -> None:
    """More questions than a pipe holds, and a worker too busy to read them, would hang the build for ever."""
    evaluator = make()
    hurry(evaluator)
    evaluator.ahead(MANY)
    assert "did not end within 0.1 seconds" in evaluator.figure(LOOP).error
    assert Outcome(9999 * 4) == evaluator.figure("lesson_code.cats.legs(9999)")


def test_many_questions_to_a_module_that_never_gets_ready(make: Make) -> None:
    """The build would hang although there is a time limit for imports."""
    evaluator = make(seconds=0.1, dogs="while True:\n    pass\n")
    evaluator.ahead(MANY)
    for expression in (LOOP, MANY[-1]):
        assert "lesson_code cannot be imported: stopped" in evaluator.figure(expression).error
