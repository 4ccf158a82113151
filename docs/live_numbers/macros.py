"""What mkdocs-macros loads: the macros of the pages, and the hooks that open and close a page and a build.

Pages call the macros between `[[=` and `=]]`:

* `number(expression, form="", source="")`: a computed figure;
* `cited(key, form=None)`: a figure of a source, by `source.figure`;
* `given(value, form="")`: an input that the author chose, which an expression or a block of the page contains;
* `code(name)`: code of `lesson_code` by name;
* `table({heading: expression, ...})`: columns of computed values;
* `line_chart(...)`, `strip(...)`: pictures, see `live_numbers.drawing`.
"""

from __future__ import annotations

import ast
import html
import inspect
import logging
import re
import sys
from bisect import bisect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import click
import jinja2
import jinja2.meta
import markdown_exec
from markupsafe import Markup
from mkdocs.exceptions import BuildError
from mkdocs.utils import CountHandler, clean_directory

from live_numbers import drawing, gate, provenance
from live_numbers.build import Build, highlighted
from live_numbers.evaluate import SECONDS, Evaluator
from live_numbers.faults import report
from live_numbers.project import Project
from live_numbers.tokens import TOKEN, tokens

PAGE_DONE = "live_numbers_page_is_done"
_collected: list[Build] | None = None
_evaluator: Evaluator | None = None
_build: Build | None = None
_warnings: list[str] = []


class KeepWarnings(logging.Handler):
    """Keeps what the builder warns of: each warning is a fault, in a plain build too."""

    def __init__(self, kept: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.kept = kept

    def emit(self, record: logging.LogRecord) -> None:
        """Remember a warning."""
        self.kept.append(record.getMessage())


_keeper = KeepWarnings(_warnings)


@contextmanager
def collecting() -> Iterator[list[Build]]:
    """Builds within end without a verdict and are put into the list: for the command, which judges them itself."""
    global _collected
    builds: list[Build] = []
    _collected = builds
    try:
        yield builds
    finally:
        _collected = None


def serving() -> bool:
    """Whether `mkdocs serve` is running: then faults are shown, and nothing is ended."""
    context = click.get_current_context(silent=True)
    return context is not None and context.info_name == "serve"


def _is_dirty() -> bool:
    """Whether the builder was told to build only what changed."""
    context = click.get_current_context(silent=True)
    options = context.params if context is not None else {}
    return options.get("clean") is False or options.get("build_type") == "dirty"


def current() -> Build:
    """The running build."""
    assert _build is not None, "mkdocs-macros has not called define_env"
    return _build


# What mkdocs-macros calls


def define_env(env: Any) -> None:
    """Begin a build: called by mkdocs-macros before the first page."""
    global _build, _evaluator
    project = Project(Path(env.conf["config_file_path"]).resolve().parent)
    if _is_dirty():
        raise BuildError("--dirty builds only some pages, so their figures cannot be checked: build without it")
    settings = env.conf["extra"].get("live_numbers", {})
    fresh = Evaluator(project, project.code_key(), float(settings.get("seconds", SECONDS)))
    if _evaluator is None or not _evaluator.answers_for(fresh):
        if _evaluator is not None:
            _evaluator.close()
        _evaluator = fresh
        _evaluator.start()
    tokens.pieces.clear()
    _build = Build(project, _evaluator)
    for name, macro in _MACROS.items():
        env.macro(macro, name)
    env.macro(_finished, PAGE_DONE)
    markdown_exec.formatters["python"] = _run_block
    _listen()


def on_pre_page_macros(env: Any) -> None:
    """Begin a page: check its macros as far as that goes without running them."""
    build, page = current(), env.page
    uri = page.file.src_uri
    folder, _, name = uri.rpartition("/")
    topic = page.meta.get("topic", name.removesuffix(".md") if folder == "lessons" else "")
    build.begin(uri, page.file.content_string, env.markdown, topic)
    marks = env.env.variable_start_string, env.env.variable_end_string
    if page.meta.get("render_macros") is not False:
        env.markdown = _expand_plain_calls(env.markdown)
    env.markdown += f"\n\n{marks[0]} {PAGE_DONE}() {marks[1]}\n"


def on_post_page_macros(env: Any) -> None:
    """End a page: nothing may have gone wrong unseen; its sources and numbers follow the text."""
    build = current()
    if env.page.meta.get("render_macros") is False:
        env.markdown, build.page.finished = build.page.body, True
    elif not build.page.finished:
        _explain_failure(build, env)
    if TOKEN.search(str(env.page.title)):
        env.page.title = build.page.shown.title = tokens.plain(str(env.page.title))
    env.markdown += provenance.sections(build, build.page)


def on_post_build(env: Any) -> None:
    """End a build: publish it, or say all that is wrong with it and leave nothing to publish."""
    build = current()
    logging.getLogger("mkdocs").removeHandler(_keeper)
    build.navigation = [page.file.src_uri for page in env.variables["navigation"].pages]
    site = Path(env.conf["site_dir"])
    files = env.variables["files"]
    pages = {file.src_uri: file.dest_uri for file in files.documentation_pages()}
    assets = {f.src_uri: Path(f.abs_src_path) for f in files if f.src_uri not in pages and f.inclusion.is_included()}
    own = {uri: path for uri, path in assets.items() if path.is_relative_to(build.project.docs)}
    build.faults += gate.check_files(build, own) + gate.check_settings(build, _settings(env))
    build.faults += gate.judge(build, site, pages, list(dict.fromkeys(_warnings)))
    if _collected is not None:
        _collected.append(build)
    elif build.faults and serving():
        gate.show_faults(build, site, pages)
        logging.getLogger("mkdocs.live_numbers").error("\n%s", report(build.faults))
    elif build.faults:
        clean_directory(str(site))
        raise BuildError("\n" + report(build.faults))
    if not serving():
        build.evaluator.close()


def _settings(env: Any) -> dict[str, str]:
    """What `mkdocs.yml` puts on every page."""
    names = ("site_name", "site_description", "site_author", "copyright")
    texts = {name: re.sub(r"<[^>]*>", " ", env.conf[name]) for name in names if env.conf[name]}
    waiting = list(env.variables["navigation"].items)
    while waiting:
        item = waiting.pop()
        if not item.is_page:
            texts[f"nav, {item.title}"] = str(item.title)
        waiting += item.children or []
    return texts


# The macros


def number(line: int, expression: str, form: str = "", source: str = "") -> str:
    """A computed figure.

    Args:
        line: where the page calls it; the page does not give it.
        expression: what a reader would type after importing the page's module.
        form: how it is written, see `live_numbers.forms`.
        source: `source.figure` whose value is or stands in the expression, for a figure that rests on it.
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


def line_chart(
    line: int, name: str, x: str, curves: dict[str, str], caption: str = "", caller: Any = None, **options: Any
) -> str:
    """Curves: `x` and each curve are expressions that give lists; see `live_numbers.drawing.line_chart`."""
    said = caller() if caller else caption
    return drawing.line_chart(current(), line, name, x, curves, caption=said, **options)


def strip(
    line: int, name: str, sizes: str, sent: str, room: int, caption: str = "", caller: Any = None, **options: Any
) -> str:
    """Messages and their window; see `live_numbers.drawing.strip`."""
    said = caller() if caller else caption
    return drawing.strip(current(), line, name, sizes, sent, room, caption=said, **options)


PLAIN_CALL = re.compile(r"\[\[=\s*((?:number|cited|given|code)\(.*?\))\s*=\]\]", re.S)
BLOCKS = re.compile(r"\[\[%\s*raw\b.*?endraw\s*%\]\]|\[\[#.*?#\]\]", re.S)
OTHER_BLOCKS = re.compile(r"\[\[%(?!\s*(?:raw|endraw|call|endcall)\b)")


def _expand_plain_calls(body: str) -> str:
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
        parts += [body[at:start], _MACROS[name](*arguments, at=line, **options)]
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


def _finished() -> str:
    """The last call of every page: a page without it did not render."""
    current().page.finished = True
    return ""


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


_MACROS = {macro.__name__: _forgiving(macro) for macro in (number, cited, given, code, table, line_chart, strip)}


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


def _explain_failure(build: Build, env: Any) -> None:
    """A page whose macros stopped half-way: name everything that is wrong with them, in place of the page."""
    page, offset = build.page, build.page.offset
    before = len(build.faults)
    try:
        tree = env.env.parse(build.page.body)
    except jinja2.TemplateSyntaxError as error:
        build.fault(error.lineno + offset, "broken macro", error.message or str(error), "mend the call")
    else:
        known = set(env.variables) | set(env.page.meta) | set(env.env.globals)
        for name in jinja2.meta.find_undeclared_variables(tree) - known:
            for line in {node.lineno for node in tree.find_all(jinja2.nodes.Name) if node.name == name}:
                build.fault(line + offset, "undefined name", name, "correct the name of the macro or the variable")
    if len(build.faults) == before:  # neither: some call raised
        what = " ".join(env.markdown.split("```")[0].replace("#", "").split())
        build.fault(0, "failing macro", what, "correct the call")
    env.markdown = f"# {page.uri}\n\nThe macros of this page cannot be run.\n"


SUPPORTED = {
    "source": ("", "above"),
    "result": ("", "text"),
    "html": (False,),
    "session": ("",),
    "workdir": (None,),
    "returncode": (0,),
    "width": (0,),
    "extra": ({},),
}
"""The options that an executed block may have besides its id, and their values."""


def _run_block(code: str, md: Any, **options: Any) -> str:
    """An executed block, in place of markdown-exec's own runner: run apart, bounded in time, its output kept."""
    build, block_id = current(), options.get("id") or "unnamed"
    for name, values in SUPPORTED.items():
        if options.get(name, values[0]) not in values:
            what = f"{block_id}: {name}={options[name]!r}: an example shows its source and below it what it prints"
            build.fault(build.page.line_of(block_id), "unsupported example", what, f"take {name} away")
    outcome = build.block(block_id, code)
    printed = html.escape(outcome.error or str(outcome.value or ""))
    shown = highlighted(code) + (f'<div class="highlight"><pre><code>{printed}</code></pre></div>' if printed else "")
    kind = "ln-block ln-failed" if outcome.error else "ln-block"
    return Markup(f'<div class="{kind}" data-block="{html.escape(block_id)}">{shown}</div>')


def _listen() -> None:
    """Keep every warning of the builder, with -q too; under serve a warning must not end the server."""
    _warnings.clear()
    logger = logging.getLogger("mkdocs")
    logger.removeHandler(_keeper)
    logger.addHandler(_keeper)
    for name, child in logging.root.manager.loggerDict.items():
        if name.startswith("mkdocs.") and isinstance(child, logging.Logger) and not child.isEnabledFor(logging.WARNING):
            child.setLevel(logging.WARNING)
    pages = logging.getLogger("mkdocs.structure.pages")
    if pages.isEnabledFor(logging.DEBUG):
        pages.setLevel(logging.INFO)  # with -v mkdocs leaves anchors unchecked
    if serving():
        for handler in [handler for handler in logger.handlers if isinstance(handler, CountHandler)]:
            logger.removeHandler(handler)  # it would turn `strict: true` into the end of the server
