"""The command `live-numbers`: check, accept, show, explain, sources."""

from __future__ import annotations

import argparse
import importlib.util
import logging
import os
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from live_numbers import evidence, expressions, gate, hooks, ledger, sources
from live_numbers.build import ASSERTED, Build
from live_numbers.dependencies import Code
from live_numbers.evaluate import Evaluator
from live_numbers.faults import Fault, report
from live_numbers.project import Project

RIGHT, WRONG, UNUSABLE, UNREACHABLE = 0, 1, 2, 3
FETCH_SECONDS = 30


class UnusableError(Exception):
    """The command cannot do what was asked; the text says why."""


def survey(project: Project) -> Build:
    """Build the site aside and return what was found.

    Raises:
        UnusableError: the site cannot be built at all.
    """
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")
    from mkdocs.commands.build import build as build_site
    from mkdocs.config import load_config

    said: list[str] = []
    listener = hooks.KeepWarnings(said)
    logging.getLogger("mkdocs").addHandler(listener)
    with tempfile.TemporaryDirectory(prefix="live-numbers-") as folder, hooks.collecting() as builds:
        try:
            config = load_config(str(project.root / "mkdocs.yml"), site_dir=folder, strict=False)
            config.plugins.on_startup(command="build", dirty=False)
            build_site(config)
        except (Exception, SystemExit) as error:
            raise UnusableError("\n".join(["the site cannot be built:", *said, str(error)])) from error
        finally:
            logging.getLogger("mkdocs").removeHandler(listener)
    if not builds:
        raise UnusableError("mkdocs.yml does not load live_numbers through mkdocs-macros")
    return builds[0]


def confirm(build: Build) -> tuple[int, list[Fault]]:
    """Run the tests that assert the figures; how many figures are confirmed, and a fault for each that is not.

    Raises:
        UnusableError: the tests cannot be run here.
    """
    if importlib.util.find_spec("pytest") is None:
        raise UnusableError("pytest is missing: install what the README's command for the tests installs")
    asserted = build.asserted or {}
    figures = {code: figure for code, figure in build.to_assert().items() if code in asserted}
    proof = evidence.run([assertion for code in figures for assertion in asserted[code]], build.project.root)
    faults = []
    for code, figure in figures.items():
        if not proof.confirmed.isdisjoint(asserted[code]):
            continue
        places = ", ".join(f"{assertion.file}:{assertion.line}" for assertion in asserted[code])
        what = f"{figure.name}: the assertion at {places} did not run and pass"
        fix = f"make it pass: pytest {asserted[code][0].test}"
        faults.append(Fault(build.project.page(figure.page), figure.line, "unconfirmed figure", what, fix))
    if faults and proof.output:
        print(proof.output, file=sys.stderr)
    return len(figures) - len(faults), faults


def check(project: Project) -> int:
    """The gate, without writing anything."""
    build = survey(project)
    confirmed, faults = confirm(build)
    faults += build.faults
    if faults:
        print(report(faults), file=sys.stderr)
        return WRONG
    figures = build.to_assert()
    quoted = sum(figure.kind in ASSERTED for figure in build.figures)
    printed = sum(figure.kind == "printed" for figure in build.figures)
    cited = sum(len(page.cited) for page in build.pages.values())
    share = 100 * confirmed // len(figures) if figures else 100
    print(
        f"{len(build.pages)} pages: {len(figures)} computed figures, quoted {quoted} times; "
        f"{printed} outputs and pictures; {cited} citations; {len(build.givens)} inputs.\n"
        f"{confirmed} of {len(figures)} computed figures independently asserted ({share} %). Nothing changed."
    )
    return RIGHT


def accept(project: Project, target: str | None) -> int:
    """Write the ledger anew, for all that changed, for a page, or for an expression."""
    build = survey(project)
    _, faults = confirm(build)
    faults += [fault for fault in build.faults if fault.kind not in gate.CHANGES]
    if faults:
        print(report(faults), file=sys.stderr)
        print("nothing was accepted: mend this first", file=sys.stderr)
        return WRONG
    old, new = build.accepted or {}, build.as_ledger()
    if target is not None:
        new = _only(target, old, new)
    if new == old and project.ledger.exists():
        print("nothing changed")
        return RIGHT
    print(ledger.diff(old, new))
    ledger.write(project.ledger, new)
    return RIGHT


def _only(target: str, old: ledger.Pages, new: ledger.Pages) -> ledger.Pages:
    """The old ledger with the entries of one page, or of one expression, taken from the new one."""
    pages = {uri: dict(entries) for uri, entries in old.items()}
    page = target.removeprefix("./").removeprefix("docs/")
    if page in old.keys() | new.keys():
        pages.pop(page, None)
        return {uri: new[uri] if uri == page else pages[uri] for uri in new if uri == page or uri in pages}
    name = expressions.normalise(target) if ledger.is_expression(target) else target
    if not any(name in entries for entries in [*old.values(), *new.values()]):
        raise UnusableError(f"{target!r} is neither a page nor a figure of one")
    for uri, entries in new.items():
        if name in entries:
            pages.setdefault(uri, {})[name] = entries[name]
    for uri, entries in pages.items():
        if name not in new.get(uri, {}):
            entries.pop(name, None)
    ordered = {
        uri: {key: pages[uri][key] for key in [*new[uri], *pages[uri]] if key in pages[uri]}
        for uri in new
        if uri in pages
    }
    return {
        uri: entries for uri, entries in (ordered | {u: e for u, e in pages.items() if u not in new}).items() if entries
    }


def show(project: Project, page: str | None) -> int:
    """Every figure of the pages, or of one page, with its expression."""
    build = survey(project)
    wanted = page.removeprefix("docs/") if page else None
    if wanted is not None and wanted not in build.pages:
        raise UnusableError(f"there is no page {page!r}: there are {', '.join(build.pages)}")
    for uri in build.in_order(build.pages):
        rows = _rows(build, uri)
        if rows and wanted in (None, uri):
            print(f"{uri}")
            width = min(32, max(len(row[0]) for row in rows))
            for written, name, mark in rows:
                print(f"  {written:>{width}}  {name}{mark}")
    return RIGHT


def _rows(build: Build, uri: str) -> list[tuple[str, str, str]]:
    """Each figure of a page once: as written, its name, and `source` where it rests on one."""
    rows = {
        (
            figure.written or "picture",
            figure.expression,
            f"  source {', '.join(figure.sources)}" if figure.sources else "",
        )
        for figure in build.figures
        if figure.page == uri and figure.kind in ASSERTED
    }
    figures = [sources.find(build.sources, key) for key in build.pages[uri].cited]
    cited = [(figure.written, figure.key, "  source") for _, figure in figures]
    return [*sorted(rows, key=lambda row: row[1]), *sorted(cited)]


def explain(project: Project, expression: str) -> int:
    """Value, code and tests of one expression."""
    names: dict[str, str] = {}
    topics = sorted(
        path.stem for path in project.lessons.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    )
    for topic in topics:
        if not topic.startswith("_"):
            names = {**expressions.page_names(project.lessons, topic), **names}
    code = expressions.canonical(expressions.normalise(expression), names, project.lessons)
    evaluator = Evaluator(project, Code(project))
    outcome = evaluator.figure(code)
    evaluator.close()
    if outcome.error:
        raise UnusableError(f"{expression}: {outcome.error}")
    print(f"{expression} = {outcome.value!r}")
    print(f"in full: {code}")
    found = [a for a in evidence.assertions(project.tests, project.lessons) if a.expression == code]
    for assertion in found:
        print(f"asserted {assertion.how}: {assertion.expected}  ({assertion.test}, line {assertion.line})")
    if not found:
        print("asserted by no test")
    quoted = [
        page for page, entries in ledger.read(project.ledger).items() if expressions.normalise(expression) in entries
    ]
    print(f"quoted on: {', '.join(quoted) or 'no page'}")
    return RIGHT


def fetch_sources(project: Project, fetch: bool) -> int:
    """List the sources; with `fetch`, compare every snapshot with the live document."""
    known, faults = sources.read(project)
    if faults:
        print(report(faults), file=sys.stderr)
        return WRONG
    status = RIGHT
    for source in known.values():
        if not fetch:
            print(
                f"{source.key}: {source.author}, {source.title} ({source.read}); {len(source.figures)} figures\n"
                f"  {source.address}"
            )
        elif source.snapshot:
            status = max(status, _compare(project.root / source.snapshot, source))
    return status


def _compare(snapshot: Path, source: sources.Source) -> int:
    """Compare one snapshot with its live document, and say how they differ."""
    try:
        with urllib.request.urlopen(source.address, timeout=FETCH_SECONDS) as answer:
            found = sources.differences(snapshot, answer.read().decode("utf-8"))
    except (urllib.error.URLError, OSError) as error:
        print(f"{source.key}: {source.address} cannot be reached: {error}", file=sys.stderr)
        return UNREACHABLE
    except (ValueError, UnicodeDecodeError) as error:
        print(f"{source.key}: {source.address}: {error}", file=sys.stderr)
        return WRONG
    print(f"{source.key}: " + ("the snapshot equals the live document" if not found else "the live document differs"))
    for difference in found:
        print(f"  {difference}")
    return WRONG if found else RIGHT


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 0 for right, 1 for faults, 2 for misuse, 3 for no network."""
    parser = argparse.ArgumentParser(
        prog="live-numbers", description="The figures of the site: computed, cited, accepted."
    )
    parser.add_argument("--root", type=Path, default=Path(), help="the folder of mkdocs.yml (default: this one)")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="the gate: build aside, compare, run the asserting tests; writes nothing")
    accepting = commands.add_parser("accept", help="write changed figures into the ledger and print the difference")
    accepting.add_argument("target", nargs="?", metavar="PAGE or EXPR", help="only this page or expression")
    showing = commands.add_parser("show", help="every figure of the lessons with its expression")
    showing.add_argument("page", nargs="?", metavar="PAGE")
    commands.add_parser("explain", help="value, code and tests of an expression").add_argument(
        "expression", metavar="EXPR"
    )
    listing = commands.add_parser("sources", help="the sources of cited figures")
    listing.add_argument("--fetch", action="store_true", help="compare snapshots with the live documents")
    chosen = parser.parse_args(arguments)
    project = Project(chosen.root.resolve())
    try:
        if not (project.root / "mkdocs.yml").is_file():
            raise UnusableError(f"{project.root / 'mkdocs.yml'} does not exist: run this where mkdocs.yml lies")
        if chosen.command == "check":
            return check(project)
        if chosen.command == "accept":
            return accept(project, chosen.target)
        if chosen.command == "show":
            return show(project, chosen.page)
        if chosen.command == "explain":
            return explain(project, chosen.expression)
        return fetch_sources(project, chosen.fetch)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # who read the output has gone
        return UNUSABLE
    except (UnusableError, ledger.LedgerError, ValueError, OSError) as error:
        print(f"live-numbers: {error}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        return UNUSABLE
