"""The gate: whether what was built may be published, and everything that speaks against it."""

from __future__ import annotations

import html
import re
from pathlib import Path

from live_numbers import expressions, ledger, lint
from live_numbers.build import Build, Figure
from live_numbers.evidence import suggest
from live_numbers.faults import Fault
from live_numbers.forms import Value
from live_numbers.tokens import TOKEN

ACCEPT = "if it is right, run: live-numbers accept"
CHANGES = frozenset({"changed figure", "changed form", "changed output", "new figure", "unused ledger line"})
"""The kinds of fault that `live-numbers accept` mends."""


def judge(build: Build, site: Path, files: dict[str, str], warnings: list[str]) -> list[Fault]:
    """Everything that is wrong with a build beyond what was found on the way.

    Args:
        build: what the pages asked for.
        site: the folder with the rendered pages.
        files: the rendered file of each page, below `site`.
        warnings: what the builder warned of.
    """
    faults = compare(build)
    faults += unasserted(build)
    faults += unused_inputs(build)
    for uri in build.pages:
        faults += check_text(build, uri, site / files[uri])
    if not any(fault.kind == "failing macro" for fault in build.faults):
        faults += lint.unused(build.project, build.allow)
    faults += [_warning(build, text) for text in warnings]
    if build.project.code_key() != build.evaluator.code_key:
        what = "a file of lesson_code was saved while the pages were built"
        faults.append(Fault("lesson_code", 0, "mixed code", what, "build again"))
    return faults


def compare(build: Build) -> list[Fault]:
    """Faults for what differs from the ledger; what differs and is not even stable is named as unstable."""
    now = build.as_ledger()
    lines: dict[tuple[str, str], Figure] = {}
    for figure in build.figures:
        lines.setdefault((figure.page, figure.name), figure)
    differing = [
        figure for (page, name), figure in lines.items() if build.accepted.get(page, {}).get(name) != now[page][name]
    ]
    stable = _second_opinion(build, differing)
    faults = []
    for figure in differing:
        file, old = build.project.page(figure.page), build.accepted.get(figure.page, {}).get(figure.name)
        new = now[figure.page][figure.name]
        if not stable.get(figure.code, True):
            what = f"{figure.name} gives another value when it is evaluated again"
            faults.append(Fault(file, figure.line, "unstable figure", what, "pin its seed, clock and order"))
        else:
            faults.append(Fault(file, figure.line, *_change(figure.name, old, new), ACCEPT))
    for page, entries in build.accepted.items():
        for name in entries.keys() - now.get(page, {}).keys():
            line = ledger.line_of(build.project.ledger, page, name)
            what = f"{name}: {_said(entries[name])} is quoted nowhere on {page}"
            faults.append(Fault(build.project.name(build.project.ledger), line, "unused ledger line", what, ACCEPT))
    return faults


def _second_opinion(build: Build, differing: list[Figure]) -> dict[str, bool]:
    """Whether each of the figures gives the same value in a fresh interpreter."""
    same: dict[str, bool] = {}
    expressions_ = list(dict.fromkeys(figure.code for figure in differing if figure.kind != "printed"))
    blocks = list(dict.fromkeys(figure.code for figure in differing if figure.name.startswith("output: ")))
    if expressions_:
        same |= build.evaluator.stable("figure", expressions_)
    if blocks:
        same |= build.evaluator.stable("block", blocks)
    return same


def _change(name: str, old: list[Value] | None, new: list[Value]) -> tuple[str, str]:
    """The kind of a change, and both values in words."""
    if old is None:
        said = "" if ledger.is_example(name) else f": {_said(new)}"
        return "new figure", f"{name}{said} is not in the ledger"
    if ledger.is_example(name):
        gone = "".join(f"\n- {line}" for line in old if line not in new)
        come = "".join(f"\n+ {line}" for line in new if line not in old)
        return "changed output", f"{name}{gone}{come}"
    if old[0] == new[0]:
        return "changed form", f"{name}: accepted {_said(old)}, now {_said(new)}"
    return "changed figure", f"{name}\naccepted {_said(old)}\nnow      {_said(new)}"


def _said(entry: list[Value]) -> str:
    """An entry of the ledger as a person would say it: as written, with the exact value where that differs."""
    exact, written = str(entry[0]) if entry else "nothing", ", ".join(str(text) for text in entry[1:])
    return exact if written in ("", exact) else f"{written} ({exact})"


def unasserted(build: Build) -> list[Fault]:
    """A fault for every computed figure that no test asserts with a value of its own."""
    seen: dict[str, Figure] = {}
    for figure in build.figures if build.tests_readable else []:
        if figure.kind in ("computed", "series") and figure.code not in build.asserted:
            seen.setdefault(figure.code, figure)
    return [
        Fault(
            build.project.page(figure.page),
            figure.line,
            "unasserted figure",
            f"{figure.name} is asserted by no test with a value worked out by hand",
            suggest(figure.name, build.pages[figure.page].topic),
        )
        for figure in seen.values()
    ]


def unused_inputs(build: Build) -> list[Fault]:
    """A fault for every input in the prose that nothing on its page is computed from."""
    inputs: dict[str, set[int | float | str]] = {}
    pages = {given.page for given in build.givens}
    for figure in build.figures:
        if figure.page in pages and figure.code:
            inputs.setdefault(figure.page, set()).update(expressions.literals(figure.code))
    return [
        Fault(
            build.project.page(given.page),
            given.line,
            "unused input",
            f"no expression and no example of the page contains {given.value!r}",
            "correct the number, or compute it",
        )
        for given in build.givens
        if given.value not in inputs.get(given.page, set())
    ]


def check_text(build: Build, uri: str, file: Path) -> list[Fault]:
    """What may not stand on the rendered page."""
    page, name = build.pages[uri], build.project.page(uri)
    if not file.exists():
        return [Fault(name, 0, "missing page", "the page was not written", "")]
    rendered = file.read_text(encoding="utf-8")
    faults = []
    for finding in lint.check_page(rendered, page.shown, build.allow):
        what = f"{finding.text!r} under the heading {finding.heading!r}: {finding.sentence}"
        faults.append(Fault(name, lint.locate(page.source, finding), finding.kind, what, FIXES[finding.kind]))
    if TOKEN.search(rendered):
        fix = "add live_numbers.tokens to markdown_extensions in mkdocs.yml"
        faults.append(Fault(name, 0, "lost figure", "a figure was not put in its place", fix))
    return faults


FIXES = {
    "typed number": "compute it (number), cite it (cited), or give it a reason in docs/typed_numbers.toml",
    "unexplained code block": 'execute it, show it by name with code(...), or give it data-reason="..."',
    "forged figure": "only the macros may write <data> elements",
    "forged example": "only an executed block may stand in data-block",
    "forged code": "only code(...) may stand in data-code",
    "forged picture": "only the picture macros may stand in data-picture",
    "forged quote": "only a quote of docs/sources.toml may stand in data-quote",
}


def _warning(build: Build, text: str) -> Fault:
    """A warning of the builder as a fault, at its page and line where it names them."""
    named = re.search(r"'([^']+\.md)'", text)
    page = build.pages.get(named[1]) if named else None
    if named is None or page is None:
        return Fault("mkdocs.yml", 0, "warning of the builder", text)
    link = re.search(r"link '([^']+)'", text)
    return Fault(build.project.page(named[1]), page.line_of(link[1]) if link else 0, "warning of the builder", text)


def show_faults(build: Build, site: Path, files: dict[str, str]) -> None:
    """Under `mkdocs serve`: put the faults of every page, and those of no page, at the top of its text."""
    pages = {build.project.page(uri): uri for uri in build.pages}
    for name, uri in pages.items():
        faults = sorted({fault for fault in build.faults if fault.file == name or fault.file not in pages})
        if faults:
            file = site / files[uri]
            items = "".join(f"<li><pre>{html.escape(str(fault))}</pre></li>" for fault in faults)
            box = f'<div class="ln-faults" role="alert"><p>This page would not be published:</p><ul>{items}</ul></div>'
            before, article, after = re.split(r"(<article[^>]*>)", file.read_text(encoding="utf-8"), maxsplit=1)
            file.write_text(before + article + box + after, encoding="utf-8")
