"""The gate: whether what was built may be published, and everything that speaks against it."""

from __future__ import annotations

import contextlib
import html
import itertools
import re
from pathlib import Path

from live_numbers import expressions, ledger, lint, typed
from live_numbers.build import ASSERTED, Build, Figure
from live_numbers.dependencies import Code
from live_numbers.evidence import suggest
from live_numbers.faults import Fault
from live_numbers.forms import Value
from live_numbers.tokens import TOKEN

ACCEPT = "if it is right, run: live-numbers accept"
CHANGES = frozenset(
    {"changed figure", "changed form", "changed output", "changed input", "new figure", "unused ledger line"}
)
"""The kinds of fault that `live-numbers accept` mends."""

KNOWN_FILES = ("css", "js", "map", "png", "jpg", "jpeg", "webp", "gif", "ico", "svg", "woff2")
"""What may lie among the pages besides pages: nothing that a reader reads, but for an SVG, which is looked at."""


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
    finished = [uri for uri, page in build.pages.items() if page.finished]
    for uri in finished:
        faults += check_text(build, uri, site / files[uri])
    if len(finished) == len(build.pages):
        faults += typed.unused(build.project, build.allow)
    faults += check_links(build, {uri: site / files[uri] for uri in finished})
    faults += check_reference(build)
    faults += [_warning(build, text) for text in warnings]
    if Code(build.project).key != build.evaluator.code.key:
        what = "a file of lesson_code was saved while the pages were built"
        faults.append(Fault("lesson_code", 0, "mixed code", what, "build again"))
    return faults


def compare(build: Build) -> list[Fault]:
    """Faults for what differs from the ledger; what differs and is not even stable is named as unstable."""
    accepted = build.accepted
    if accepted is None:
        return []
    now = build.as_ledger()
    first: dict[tuple[str, str], Figure] = {}
    for figure in build.figures:
        if build.pages[figure.page].finished:
            first.setdefault((figure.page, figure.name), figure)
    differing = [
        figure for (page, name), figure in first.items() if accepted.get(page, {}).get(name) != now[page][name]
    ]
    stable = _second_opinion(build, differing)
    faults = []
    for figure in differing:
        file, old = build.project.page(figure.page), accepted.get(figure.page, {}).get(figure.name)
        new = now[figure.page][figure.name]
        if not stable.get(figure.code, True):
            what = f"{figure.name} gives another value when it is evaluated again"
            faults.append(Fault(file, figure.line, "unstable figure", what, "pin its seed, clock and order"))
        else:
            kind, what = _change(figure.name, old, new)
            fix = _how_to_accept(build, figure) if kind == "changed figure" else ACCEPT
            faults.append(Fault(file, figure.line, kind, what, fix))
    return faults + _changed_inputs(build, accepted, now) + _unused_lines(build, accepted, now)


def _changed_inputs(build: Build, accepted: ledger.Pages, now: ledger.Pages) -> list[Fault]:
    """A fault for every page on which the author chose other inputs, at the first that differs."""
    faults = []
    for uri, entries in now.items():
        old, new = accepted.get(uri, {}).get(ledger.INPUTS), entries.get(ledger.INPUTS, [])
        if new and new != old and build.pages[uri].finished:
            lines = sorted(given.line for given in build.givens if given.page == uri)
            place = next((i for i, pair in enumerate(zip(old or [], new, strict=False)) if pair[0] != pair[1]), -1)
            kind, what = _change(ledger.INPUTS, old, new)
            faults.append(Fault(build.project.page(uri), lines[place], kind, what, ACCEPT))
    return faults


def _how_to_accept(build: Build, figure: Figure) -> str:
    """What to do about a figure that is new or changed: the test comes first."""
    asserted = (build.asserted or {}).get(figure.code)
    if figure.kind == "printed" or not asserted:
        return ACCEPT
    return f"work it out by hand in {asserted[0].file}:{asserted[0].line}; {ACCEPT}"


def _unused_lines(build: Build, accepted: ledger.Pages, now: ledger.Pages) -> list[Fault]:
    """A fault for every line of the ledger that nothing quotes; what could not be computed is quoted all the same."""
    unused = [
        (uri, name)
        for uri, entries in accepted.items()
        for name in entries.keys() - now.get(uri, {}).keys()
        if uri not in build.pages or (build.pages[uri].finished and name not in build.pages[uri].failed)
    ]
    places = ledger.places(build.project.ledger) if unused else {}
    return [
        Fault(
            build.project.name(build.project.ledger),
            places.get((uri, name), 0),
            "unused ledger line",
            f"{name}: {_said(accepted[uri][name])} is quoted nowhere on {uri}",
            ACCEPT,
        )
        for uri, name in unused
    ]


def _second_opinion(build: Build, differing: list[Figure]) -> dict[str, bool]:
    """Whether each of the figures gives the same value in a fresh interpreter."""
    same: dict[str, bool] = {}
    expressions_ = list(dict.fromkeys(f.code for f in differing if f.kind in ASSERTED))
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
    if name == ledger.INPUTS:
        changed = [f"{a} became {b}" for a, b in itertools.zip_longest(old, new, fillvalue="nothing") if a != b]
        return "changed input", f"what the author chose on this page: {', '.join(changed[:5])}"
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
    if build.asserted is None:
        return []
    faults = []
    for code, figure in build.to_assert().items():
        place = build.project.page(figure.page), figure.line
        known = [a for a in build.asserted.get(code, []) if a.how != "published" or a.source in build.sources]
        if known:
            continue
        if published := build.asserted.get(code):
            what = (
                f"{figure.expression}: {published[0].test} names the source {published[0].source!r}, which is unknown"
            )
            faults.append(Fault(*place, "unknown source", what, "name a source of docs/sources.toml in the mark"))
        else:
            what = f"{figure.expression} is asserted by no test with a value that owes nothing to the code"
            faults.append(
                Fault(*place, "unasserted figure", what, suggest(figure.expression, build.pages[figure.page].topic))
            )
    return faults


def unused_inputs(build: Build) -> list[Fault]:
    """A fault for every input in the prose that nothing on its page is computed from."""
    missing: dict[str, set[int | float | str]] = {}
    for given in build.givens:
        missing.setdefault(given.page, set()).add(given.value)
    for figure in build.figures:
        if missing.get(figure.page) and figure.code:
            with contextlib.suppress(ValueError):  # a block that does not parse is a fault of its own
                missing[figure.page] -= expressions.literals(figure.code)
    return [
        Fault(
            build.project.page(given.page),
            given.line,
            "unused input",
            f"no expression and no example of the page contains {given.value!r}",
            "correct the number, or compute it",
        )
        for given in build.givens
        if not build.pages[given.page].failed and given.value in missing[given.page]
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
        fix = FIXES.get(finding.kind, "only the machinery may write this; take it out")
        if finding.kind == "typed number":
            fix += f': [[allow]] text = "{finding.text}"'
        faults.append(Fault(name, lint.locate(page.lines, finding), finding.kind, what, fix))
    if TOKEN.search(rendered):
        fix = "add live_numbers.tokens to markdown_extensions in mkdocs.yml"
        faults.append(Fault(name, 0, "lost figure", "a figure was not put in its place", fix))
    return faults


FIXES = {
    "typed number": "compute it (number), cite it (cited), mark an input of an expression (given), say it otherwise, "
    "or let it out with a reason in docs/typed_numbers.toml",
    "unexplained code block": 'execute it, show it by name with code(...), or give it data-reason="..."',
    "unrendered macro": "macros are not run here: front matter other than the title, and pages that switch them off",
    "raw element": "what it shows cannot be checked; write it as text, or as a macro of live_numbers",
}


def check_links(build: Build, files: dict[str, Path]) -> list[Fault]:
    """Links of the machinery's own that lead nowhere: the builder does not see them.

    Args:
        build: what the pages asked for.
        files: the rendered pages.
    """
    ids: dict[str, set[str]] = {}
    faults = []
    for uri, (target, fragment) in sorted(build.links):
        file = files.get(target)
        if fragment and file is not None and file.exists():
            if target not in ids:
                ids[target] = set(re.findall(r'\sid="([^"]*)"', file.read_text(encoding="utf-8")))
            if html.escape(fragment) not in ids[target]:
                what = f"{build.project.page(target)} does not show {fragment}"
                faults.append(
                    Fault(build.project.page(uri), 0, "broken link", what, "show it there, or take the page away")
                )
    return faults


def check_reference(build: Build) -> list[Fault]:
    """Pages that a list of the reference should have taken in and did not, because the builder came to them later."""
    computed = {figure.page for figure in build.figures if figure.kind in ("computed", "series")}
    cited = {uri for uri, page in build.pages.items() if page.cited}
    return [
        Fault(
            build.project.page(uri),
            0,
            "late page",
            f"{macro}() was called before this page was read, so it leaves it out",
            "the builder reads by name, files of a folder before its folders: rename a page or a folder",
        )
        for macro, wanted in (("all_numbers", computed), ("all_sources", cited))
        for uri in sorted(wanted - build.in_reference.get(macro, frozenset(wanted)))
    ]


def check_settings(build: Build, settings: dict[str, str]) -> list[Fault]:
    """Typed numbers in what `mkdocs.yml` puts on every page: names, menu, copyright."""
    return [
        Fault("mkdocs.yml", 0, "typed number", f"{number!r} in {name}: {text}", FIXES["typed number"])
        for name, text in settings.items()
        for _, number in build.allow.typed(lint.folded(text))
    ]


def check_files(build: Build, files: dict[str, Path]) -> list[Fault]:
    """Files beside the pages that nobody checks: only assets that hold no text may lie there."""
    faults = []
    for uri, path in files.items():
        kind = path.suffix.lstrip(".").lower()
        name = build.project.page(uri)
        if kind not in KNOWN_FILES:
            what = f"a file of the kind {kind or 'none'!r} would be published unchecked"
            faults.append(
                Fault(name, 0, "unchecked file", what, "make it a page, or add it to exclude_docs in mkdocs.yml")
            )
        elif kind == "svg":
            text = re.sub(r"<style.*?</style>|<[^>]*>", " ", path.read_text("utf-8", "replace"), flags=re.S)
            for _, number in build.allow.typed(lint.folded(text)):
                faults.append(Fault(name, 0, "typed number", f"{number!r} in the picture", "draw it with a macro"))
    return faults


def _warning(build: Build, text: str) -> Fault:
    """A warning of the builder as a fault, at its page and line where it names them."""
    if of_code := re.match(r"griffe: (.+?\.py):(\d+): (.*)", text, re.S):
        file = build.project.name(Path(of_code[1]))
        return Fault(file, int(of_code[2]), "warning of the builder", of_code[3], "correct the docstring")
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
