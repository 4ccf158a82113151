"""What pages call between `[[=` and `=]]`, and how the calls are run.

* `number(expression, form="", source="")`: a computed figure;
* `cited(key, form=None)`: a figure of a source, by `source.figure`;
* `given(value, form="")`: an input that the author chose, which an expression or a block of the page contains;
* `code(name)`: code of `lesson_code` by name;
* `table({heading: expression, ...})`: columns of computed values;
* `line_chart(...)`, `strip(...)`, `timeline(...)`, `message_rows(...)`, `sequence(...)`, `assembly(...)`: pictures, see
  `live_numbers.drawing`;
* `explorer(...)`: results for settings that the reader chooses, see `live_numbers.explorers`;
* `api(topic)`, `tests(topic)`, `all_code()`, `all_tests()`, `all_numbers()`, `all_sources()`: pages of the reference.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from bisect import bisect
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from live_numbers import drawing, explorers, provenance, reference
from live_numbers.build import Build

_running: list[Build] = []


def begin(build: Build) -> None:
    """Make a build the one that the calls of the pages belong to."""
    _running[:] = [build]


def current() -> Build:
    """The running build."""
    return _running[0]


def number(line: int, expression: str, form: str = "", source: str | Sequence[str] = ()) -> str:
    """A computed figure.

    Args:
        line: where the page calls it; the page does not give it.
        expression: what a reader would type after importing the page's module.
        form: how it is written, see `live_numbers.forms`.
        source: the cited figures that it rests on, `source.figure` or several of them: each is its value, or stands
            in the expression.
    """
    return current().number(line, expression, form, source)


def cited(line: int, key: str, form: str | None = None) -> str:
    """A figure of a source: `cited("qwen3-8b-card.parameters")`, written as there or in the given form."""
    return current().cited(line, key, form)


def given(line: int, value: int | float | str, form: str = "") -> str:
    """An input: an expression or an executed block of this page must contain it, or the build fails."""
    return current().given(line, value, form)


def code(line: int, name: str) -> str:
    """Code of `lesson_code`: a function, a class, a module, or a marked region as `module:region`."""
    return current().code(line, name)


def table(line: int, columns: dict[str, str], forms: dict[str, str] | None = None) -> str:
    """A table: each heading with an expression that gives the column's values, and forms by heading."""
    return drawing.table(current(), line, columns, forms or {})


def api(line: int, topic: str) -> str:
    """The code of a topic, from its docstrings."""
    return reference.api(current(), line, topic)


def tests(line: int, topic: str) -> str:
    """The tests of a topic; of `others`, those of none."""
    return reference.tests(current(), line, topic)


def all_code(line: int) -> str:
    """The list of the pages with code."""
    return reference.all_code(current())


def all_tests(line: int) -> str:
    """The list of the pages with tests."""
    return reference.all_tests(current())


def all_numbers(line: int) -> str:
    """Every computed figure of the pages before this one, which must be all."""
    return provenance.all_numbers(current())


def all_sources(line: int) -> str:
    """Every source, and the pages before this one that cite it, which must be all."""
    return provenance.all_sources(current())


def _picture(draw: Callable[..., str]) -> Callable[..., str]:
    """The macro of a picture, whose caption a page gives as an option or between `call` and `endcall`."""

    def macro(line: int, *values: Any, caption: str = "", caller: Any = None, **options: Any) -> str:
        return draw(current(), line, *values, caption=caller() if caller else caption, **options)

    macro.__name__ = draw.__name__
    return macro


def _forgiving(macro: Callable[..., str]) -> Callable[..., str]:
    """The macro, for which a call with the wrong arguments is a fault of the page and not the end of the build."""
    signature = inspect.signature(macro)

    def call(*args: Any, at: int = 0, **kwargs: Any) -> str:
        line = at or _line()
        try:
            signature.bind(line, *args, **kwargs)
            return macro(line, *args, **kwargs)
        except Exception as error:
            what, fix = f"{macro.__name__}(...): {error}", "see docs/contributing.md for the arguments"
            return current().failed(line, "faulty call", what, fix)

    return call


PICTURES: list[Callable[..., str]] = [
    drawing.line_chart,
    drawing.strip,
    drawing.timeline,
    drawing.message_rows,
    drawing.sequence,
    drawing.assembly,
    explorers.explorer,
]
ALL: list[Callable[..., str]] = [all_code, all_tests, all_numbers, all_sources]
PLAIN: list[Callable[..., str]] = [number, cited, given, code, table, api, tests, *ALL]
MACROS = {macro.__name__: _forgiving(macro) for macro in [*PLAIN, *map(_picture, PICTURES)]}


PLAIN_CALL = re.compile(r"\[\[=\s*((?:number|cited|given|code)\(.*?\))\s*=\]\]", re.S)


BLOCKS = re.compile(r"\[\[%\s*raw\b.*?endraw\s*%\]\]|\[\[#.*?#\]\]", re.S)


OTHER_BLOCKS = re.compile(r"\[\[%(?!\s*(?:raw|endraw|call|endcall)\b)")


def expand_plain_calls(body: str) -> str:
    """Run the calls that a page writes out with plain values; the others are left to Jinja.

    They are nearly all, and so the worker can be asked for all their figures at once, ahead of the first. A page with
    loops or conditions is left to Jinja as a whole, which alone knows what of it will be shown.
    """
    if OTHER_BLOCKS.search(body):
        return body
    left_alone = [found.span() for found in BLOCKS.finditer(body)]
    calls = {
        found.span(): call
        for found in PLAIN_CALL.finditer(body)
        if not any(start <= found.start() < end for start, end in left_alone) and (call := _plain_call(found[1]))
    }
    build = current()
    build.ahead(arguments[0] for name, arguments, _ in calls.values() if name == "number" and arguments)
    parts, at, line = [], 0, 1 + build.page.offset
    for (start, end), (name, arguments, options) in calls.items():
        line += body.count("\n", at, start)
        parts += [body[at:start], MACROS[name](*arguments, at=line, **options)]
        line += body.count("\n", start, end)
        at = end
    return "".join([*parts, body[at:]])


def _plain_call(text: str) -> tuple[str, list[Any], dict[str, Any]] | None:
    """The name and the values of a call that is written out with plain values, and None of any other."""
    try:
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Name)
        values = [ast.literal_eval(argument) for argument in call.args]
        options = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, AssertionError):
        return None
    return call.func.id, values, options


def _line() -> int:
    """The line of the page's file from which the running macro was called."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        template = frame.f_globals.get("__jinja_template__")
        if template is not None:
            offsets, lines = _line_table(template, frame.f_code)
            return lines[bisect(offsets, frame.f_lasti) - 1] + current().page.offset
        frame = frame.f_back
    return 0


@lru_cache(maxsize=8)
def _line_table(template: Any, code: CodeType) -> tuple[list[int], list[int]]:
    """Offsets into the code of a compiled template, in order, and the line of the template for each.

    Jinja's `get_corresponding_lineno` and Python's `f_lineno` give the same, but read from the beginning for each
    call, which a page of ten thousand figures feels.
    """
    pairs = sorted((code_line, line) for line, code_line in template.debug_info)
    code_lines = [code_line for code_line, _ in pairs]
    offsets, lines = [], []
    for start, _, code_line in code.co_lines():
        if code_line is not None:
            offsets.append(start)
            lines.append(pairs[max(bisect(code_lines, code_line) - 1, 0)][1] if pairs else 1)
    return offsets, lines
