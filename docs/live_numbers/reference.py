"""The reference pages: the code, every test, all numbers, all sources; `places` says what is where."""

from __future__ import annotations

import ast
import html
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from live_numbers import listing, shown_code
from live_numbers.build import Build
from live_numbers.expressions import LESSONS, Function
from live_numbers.places import API, OTHERS, TESTS, Place, test_files, test_id, topics
from live_numbers.tokens import Piece, tokens


def tests(build: Build, line: int, topic: str) -> str:
    """The test files of a topic: what each test checks, then their code."""
    files = test_files(build.project, build.urls).get(topic)
    if not files:
        return build.failed(line, "missing tests", f"no file is called tests/test_{topic}.py", "correct the topic")
    heads, codes = [], []
    for path in files:
        name, source = build.project.name(path), path.read_text(encoding="utf-8")
        shown = _file_of_tests(name, source)
        heads.append(f"<p><code>{html.escape(name)}</code></p>{shown.contents}")
        build.page.shown.codes[name] = source
        code = f'<div class="ln-tests" data-code="{html.escape(name)}">{shown.code}</div>'
        codes.append(f"## `{name}` {{ #{test_id(name, ())} }}\n\n{tokens.put(Piece(code, name))}")
    title = "The other tests" if topic == OTHERS else f"Tests of `{topic}`"
    contents = build.listed(f'<div class="ln-contents">{"".join(heads)}</div>')
    return "\n\n".join([f"# {title}", contents, *codes])


class _FileOfTests(NamedTuple):
    """The HTML of a file of tests, which is a list of them and the code, and their number."""

    contents: str
    code: str
    number: int


@lru_cache(maxsize=512)
def _file_of_tests(name: str, source: str) -> _FileOfTests:
    """All of it; while a site is served it seldom changes."""
    lines = source.rstrip().split("\n")
    items, code, at = [], [], 0
    for parts, function in _test_functions(ast.parse(source)):
        start = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)]) - 1
        end = function.end_lineno or start
        whole, said = test_id(name, parts), (ast.get_docstring(function) or "").partition("\n")[0]
        items.append(f'<li><a href="#{whole}"><code>{html.escape(parts[-1])}</code></a><br>{html.escape(said)}</li>')
        code += [_part(lines[at:start]), _part(lines[start:end], whole)]
        at = end
    code.append(_part(lines[at:]))
    shown = f'<div class="highlight"><pre><code>{"".join(code)}</code></pre></div>'
    return _FileOfTests(f"<ul>{''.join(items)}</ul>", shown, len(items))


def _part(lines: list[str], whole: str = "") -> str:
    """Lines of a file in an element of their own: the theme makes a grid of the code, which drops loose white space."""
    place = f' id="{whole}"' if whole else ""
    code = listing.marked("".join(f"{line}\n" for line in lines))
    return f"<span{place}>{code}</span>" if lines else ""


def _test_functions(holder: ast.Module | ast.ClassDef, *around: str) -> Iterator[tuple[list[str], Function]]:
    """The tests of a file, each with its name and those of the classes around it."""
    for node in holder.body:
        if isinstance(node, Function) and node.name.startswith("test"):
            yield [*around, node.name], node
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _test_functions(node, *around, node.name)


def all_tests(build: Build) -> str:
    """The pages with tests, and how many are on each."""
    rows = []
    for topic, paths in test_files(build.project, build.urls).items():
        count = sum(_file_of_tests(build.project.name(path), path.read_text(encoding="utf-8")).number for path in paths)
        rows.append((f"{TESTS}{topic}.md", topic, f"{count} tests in {len(paths)} file{'s' * (len(paths) > 1)}"))
    return _listed(build, rows)


# Code.


def api(build: Build, line: int, topic: str) -> str:
    """The calls of mkdocstrings for a module, or for all modules of a package."""
    base = build.project.lessons / topic
    paths = [base.with_suffix(".py"), *sorted(base.rglob("*.py"))]
    paths = [path for path in paths if path.is_file() and (path.stem == "__init__" or not path.stem.startswith("_"))]
    if not paths or not topic.isidentifier():
        return build.failed(line, "missing module", f"there is no {LESSONS}/{topic}.py", "correct the topic")
    for path in paths:
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):  # whoever evaluates it says so
            return build.failed(line, "broken code", f"{build.project.name(path)} cannot be read", "mend it")
    # Nothing but this call on the page: then all that mkdocstrings renders there comes from the code.
    build.page.shown.api = build.page.body.strip() == f'[[= api("{topic}") =]]'
    names = [".".join(path.relative_to(build.project.root).with_suffix("").parts) for path in paths]
    first, *others = sorted(name.removesuffix(".__init__") for name in names)
    pages = {"the lesson": f"lessons/{topic}.md", "its tests": f"{TESTS}{topic}.md"}
    links = [f"[{said}](../../{uri})" for said, uri in pages.items() if uri in build.urls]
    calls = [
        f"# `{first}` {{ #{first} }}",
        f"See also {' and '.join(links)}." if links else "",
        f"::: {first}\n    options: {{show_root_heading: false, show_root_toc_entry: false}}",
        *(
            # In the contents with its package: a class of that name would be next to it.
            f"::: {name}\n    options: {{show_root_heading: true, toc_label: {name.removeprefix(f'{LESSONS}.')}}}"
            for name in others
        ),
    ]
    return "\n\n".join(calls)


def _about(build: Build, topic: str) -> str:
    """The first line of a module's docstring."""
    path, _ = shown_code.module(build.project.lessons, [topic])
    tree = shown_code.parsed(path.read_text(encoding="utf-8")) if path else ast.Module([], [])
    return (ast.get_docstring(tree) or "").partition("\n")[0]


def all_code(build: Build) -> str:
    """The pages with code, and what each module is about."""
    return _listed(build, ((f"{API}{topic}.md", topic, _about(build, topic)) for topic in topics(build.urls, API)))


def _listed(build: Build, rows: Iterable[tuple[str, str, str]]) -> str:
    """A list of pages of the reference: of each its file, its topic, and what is there."""
    items = (
        f"<li>{build.link(Place(uri, ''), f'<code>{html.escape(topic)}</code>')}: {html.escape(about)}</li>"
        for uri, topic, about in rows
    )
    return build.listed(f"<ul>{''.join(items)}</ul>")
