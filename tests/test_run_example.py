"""How an example is run in a browser: as a script of its own, whatever ran before it."""

from __future__ import annotations

import ast
import asyncio
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from live_numbers import run_example
from live_numbers.run_example import Loop, run


@pytest.fixture(autouse=True)
def own_lessons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lessons of their own: each run forgets those it finds, which other tests still use."""
    kept = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == run_example.LESSONS}
    (tmp_path / run_example.LESSONS).mkdir()
    (tmp_path / run_example.LESSONS / "__init__.py").write_text("", encoding="utf-8")
    cats = "LEGS = 4\n\ndef legs(cats):\n    return cats * LEGS\n"
    (tmp_path / run_example.LESSONS / "cats.py").write_text(cats, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == run_example.LESSONS]:
        del sys.modules[name]
    sys.modules.update(kept)


def printed(code: str, capfd: pytest.CaptureFixture[str]) -> tuple[str, str, str]:
    """How an example ends, and what it prints to both of its streams."""
    capfd.readouterr()
    ended = run(textwrap.dedent(code))
    return (ended, *capfd.readouterr())


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        ("12\n", "from lesson_code.cats import legs\nprint(legs(3))"),
        ("__main__\n", "print(__name__)"),
        ("True\n", "import sys\nprint(vars(sys.modules['__main__']) is globals())"),
        ("no line end", "print('no line end', end='')"),
        ("Cat(legs=4)\n", "from dataclasses import dataclass\n@dataclass\nclass Cat:\n    legs: int\nprint(Cat(4))"),
        ("def f(): ...\n\n", "import inspect\ndef f(): ...\nprint(inspect.getsource(f))"),
        ("<class 'int'>\n", "def f(a: int): ...\nprint(f.__annotations__['a'])"),
    ],
)
def test_an_example_is_a_script(expected: str, code: str, capfd: pytest.CaptureFixture[str]) -> None:
    """What holds in a file of the reader's own would not hold on the page."""
    assert ("", expected, "") == printed(code, capfd)


def test_nothing_is_left_to_the_next(capfd: pytest.CaptureFixture[str]) -> None:
    """Names, changed lessons, files and replaced streams of one example would change what another prints."""
    first = """
        import io, sys
        from pathlib import Path
        from lesson_code import cats
        cats.LEGS = 5
        kept = 1
        Path("kept").write_text("kept")
        print(cats.legs(1))
        sys.stdout = io.StringIO()
    """
    assert ("", "5\n", "") == printed(first, capfd)
    second = """
        import os
        from lesson_code import cats
        print("kept" in globals(), cats.legs(1), os.listdir())
    """
    assert ("", "False 4 []\n", "") == printed(second, capfd)


def test_all_is_as_before_at_the_end(capfd: pytest.CaptureFixture[str]) -> None:
    """The page's interpreter would not survive the example: its streams, its main module, its folder."""
    before = sys.modules["__main__"], sys.stdin, sys.stdout, sys.stderr, Path.cwd()
    run("import sys\nsys.stdout.close()\nsys.stdin = None\nsys.modules['__main__'] = None\n1 / 0")
    assert before == (sys.modules["__main__"], sys.stdin, sys.stdout, sys.stderr, Path.cwd())


@pytest.mark.parametrize(
    ("ended", "says", "code"),
    [
        (
            "ZeroDivisionError",
            'Traceback (most recent call last):\n  File "<example>", line 4, in <module>\n    half(0)\n',
            "def half(n):\n    return 1 / n\n\nhalf(0)",
        ),
        ("SyntaxError", '  File "<example>", line 2\n    (\n    ^\nSyntaxError: ', "1\n("),
        (
            "KeyError",
            'Traceback (most recent call last):\n  File "<example>", line 2, in <module>\n    1 / 0\n',
            "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise KeyError('cats') from error",
        ),
        ("exit status 1", "no cats\n", "import sys\nsys.exit('no cats')"),
        ("exit status 3", "", "import sys\nsys.exit(3)"),
        ("", "", "import sys\nsys.exit()"),
        ("", "", "raise SystemExit(0)"),
        ("KeyboardInterrupt", "Traceback", "raise KeyboardInterrupt"),
    ],
)
def test_how_an_example_ends(ended: str, says: str, code: str, capfd: pytest.CaptureFixture[str]) -> None:
    """The reader would look for the error in other lines, or among frames of the machinery."""
    found, output, errors = printed(code, capfd)
    assert (ended, "") == (found, output)
    assert errors.startswith(says), errors
    assert "run_example" not in errors


def test_asyncio_runs_without_connections(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """In a browser `asyncio.run` would come back before the work is done; the lessons' bot could not answer."""
    for name in ("run", "new_event_loop"):
        monkeypatch.setattr(asyncio, name, getattr(asyncio, name))
    monkeypatch.setattr(asyncio.events, "new_event_loop", asyncio.new_event_loop)
    monkeypatch.setattr(sys, "path", [*sys.path])
    run_example.settle()
    code = """
        import asyncio

        async def purr(times):
            for n in range(times):
                await asyncio.sleep(0.001 * (times - n))
                print(type(asyncio.get_running_loop()).__name__, times, n)

        async def both():
            await asyncio.gather(purr(2), asyncio.wait_for(purr(1), 60))

        asyncio.run(both())
    """
    ended, output, errors = printed(code, capfd)
    assert ("", "") == (ended, errors)
    assert sorted(output.splitlines()) == ["Loop 1 0", "Loop 2 0", "Loop 2 1"]
    assert str(Path(run_example.__file__).parent) == sys.path[0]


def test_a_wait_without_end_is_an_error() -> None:
    """Tasks that wait for each other would hang, and the reader would not know why."""

    async def for_ever() -> None:
        await asyncio.Event().wait()

    with asyncio.Runner(loop_factory=Loop) as runner, pytest.raises(RuntimeError, match="would never end"):
        runner.run(for_ever())


def test_it_stands_alone() -> None:
    """It is delivered without the rest of the machinery: an import of it would fail in every browser."""
    source = Path(run_example.__file__).read_text(encoding="utf-8")
    needed = {
        alias.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import) for alias in node.names
    }
    needed |= {str(node.module) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)}
    assert "asyncio" in needed
    assert {name.partition(".")[0] for name in needed} <= sys.stdlib_module_names
