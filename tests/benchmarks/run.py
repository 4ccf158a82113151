"""What the machinery costs, as ratios within one run and as counted work: `python tests/benchmarks/run.py`.

Nothing here runs by default: these are measurements, not tests. Each prints what it holds itself to.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
os.environ["NO_MKDOCS_2_WARNING"] = "1"

from mkdocs.commands.build import build as build_site  # noqa: E402 - the path is set first
from mkdocs.config import load_config  # noqa: E402 - as above

import live_numbers  # noqa: E402 - as above
from lesson_code.context_window import filler, truncate  # noqa: E402 - as above
from live_numbers import (  # noqa: E402 - as above
    canvas,
    command,
    diagrams,
    docstrings,
    evaluate,
    evidence,
    hooks,
    ledger,
    pictures,
    reference,
)
from live_numbers.tokens import TOKEN, tokens  # noqa: E402 - as above
from tests.tiny_site import TinySite  # noqa: E402 - as above

ROUNDS = 7
spent: dict[str, float] = {}


@contextmanager
def stopwatch(owner: Any, name: str, label: str) -> Iterator[None]:
    """Add up the time that a function takes, whoever calls it."""
    original = getattr(owner, name)

    def timed(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return original(*args, **kwargs)
        finally:
            spent[label] = spent.get(label, 0.0) + time.perf_counter() - start

    setattr(owner, name, timed)
    try:
        yield
    finally:
        setattr(owner, name, original)


def built(config_file: Path) -> float:
    """Build a site once; the seconds it took."""
    with tempfile.TemporaryDirectory() as folder, hooks.collecting():
        config = load_config(str(config_file), site_dir=folder, strict=False)
        start = time.perf_counter()
        build_site(config)
        return time.perf_counter() - start


def plain_copy(folder: Path) -> Path:
    """The same pages as a plain Material site: every figure typed, every output pasted, every picture inlined."""
    resolved: dict[str, str] = {}
    original = live_numbers.on_post_page_macros

    def keep(env: Any) -> None:
        original(env)
        resolved[env.page.file.src_uri] = env.markdown

    live_numbers.on_post_page_macros = keep
    try:
        build = command.survey(command.Project(ROOT))
    finally:
        live_numbers.on_post_page_macros = original
    for uri, markdown in resolved.items():
        page = build.pages[uri]

        def paste(found: re.Match[str], page: Any = page) -> str:
            indent, block_id, code = found[1], found[2], found[3]
            output = page.shown.blocks.get(block_id, ("", ""))[1]
            lines = [f"{indent}{line}" for line in output.splitlines()]
            return "\n".join(
                [
                    f"{indent}```python",
                    code.rstrip("\n"),
                    f"{indent}```",
                    "",
                    f"{indent}```text",
                    *lines,
                    f"{indent}```",
                ]
            )

        def fence(found: re.Match[str], page: Any = page) -> str:
            piece = tokens.piece(found[2])
            name = re.match(r'<div class="ln-code" data-code="([^"]+)"', piece.html)
            if name is None:
                return found[0]
            lines = [f'```python title="{piece.plain}"', *page.shown.codes[name[1]].splitlines(), "```"]
            return "\n".join(found[1] + line for line in lines)

        text = re.sub(r'^( *)```python exec="1" id="([^"]+)"\n(.*?)^ *```$', paste, markdown, flags=re.M | re.S)
        text = re.sub(rf"^( *)({TOKEN.pattern})$", fence, text, flags=re.M)
        text = TOKEN.sub(lambda token: tokens.piece(token[0]).html.replace("\n", "&#10;"), text)
        target = folder / "docs" / uri
        target.parent.mkdir(parents=True, exist_ok=True)
        title = f"---\ntitle: {page.uri}\n---\n\n"
        target.write_text(title + text, encoding="utf-8")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    settings = settings[: settings.index("  - markdown-exec")].replace("  - live_numbers.tokens\n", "")
    for name in ("docs/assets", "docs/overrides", "docs/live_numbers/templates", "lesson_code"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)
    config = folder / "mkdocs.yml"
    config.write_text(settings.replace("watch: [lesson_code, tests]\n", ""), encoding="utf-8")
    return config


def overhead() -> None:
    """The build of this site against a plain Material site of the same pages, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        plain = plain_copy(Path(folder))
        built(plain), built(ROOT / "mkdocs.yml")  # imports and caches, not measured
        rows: dict[str, list[float]] = {"plain": [], "ours": [], "lessons": [], "drawing": []}
        for _ in range(ROUNDS):
            rows["plain"].append(built(plain))
            spent.clear()
            evidence._assertions.cache_clear()
            canvas.text_width.cache_clear()
            reference._file_of_tests.cache_clear()
            docstrings._collected.clear()
            docstrings._rendered.clear()
            hooks._evaluator = None  # every round runs the lessons anew, as a build of its own does
            with (
                stopwatch(evaluate.Evaluator, "_ask", "lessons"),
                stopwatch(pictures, "line_chart", "drawing"),
                stopwatch(pictures, "bar_strip", "drawing"),
                stopwatch(diagrams, "message_rows", "drawing"),
                stopwatch(diagrams, "sequence", "drawing"),
                stopwatch(diagrams, "assembly", "drawing"),
            ):
                rows["ours"].append(built(ROOT / "mkdocs.yml"))
            rows["lessons"].append(spent.get("lessons", 0.0))
            rows["drawing"].append(spent.get("drawing", 0.0))
    middle = {name: statistics.median(values) for name, values in rows.items()}
    machinery = middle["ours"] - middle["lessons"] - middle["drawing"] - middle["plain"]
    print(f"build, median of {ROUNDS}, in parts of a plain Material build of the same pages ({middle['plain']:.2f} s):")
    for name, part in (
        ("whole build", middle["ours"]),
        ("running lessons", middle["lessons"]),
        ("drawing pictures", middle["drawing"]),
    ):
        print(f"  {name:28} {part / middle['plain']:6.1%}")
    print(f"  {'macros, ledger and checks':28} {machinery / middle['plain']:6.1%}   (held to 15 %)")


def figures_on_a_page() -> None:
    """One page with many figures, all accepted and asserted: a hundred that are quoted again and again, or all new."""
    print("figures on one page, whole build (held to: linear, under 5 s for 10,000):")
    layouts = {
        "one paragraph": ("", " ", ""),
        "lines of their own": ("", "\n\n", ""),
        "a table": ("| a |\n|---|\n| ", " |\n| ", " |"),
    }
    for distinct in (100, 10_000):
        for layout, (start, between, end) in layouts.items():
            times = []
            for count in (1_000, 10_000):
                with tempfile.TemporaryDirectory() as folder:
                    times.append(_many(TinySite(Path(folder), accept=False), count, distinct, start, between, end))
            print(
                f"  {distinct:6,} different, in {layout:20} 1,000: {times[0]:5.2f} s"
                f"   10,000: {times[1]:5.2f} s   ratio {times[1] / times[0]:4.1f}"
            )


def _many(site: TinySite, count: int, distinct: int, start: str, between: str, end: str) -> float:
    """The seconds that the second build of a page of so many figures takes; the first one is accepted."""
    calls = between.join(f'[[= number("legs({n % distinct})") =]]' for n in range(count))
    site.edit("docs/lessons/cats.md", "Every Leg-2000", f"{start}{calls}{end}\n\nEvery Leg-2000")
    asserts = "".join(f"    assert {n} * 4 == legs({n})\n" for n in {3, 5_000, *range(min(count, distinct))})
    head = "from lesson_code.cats import LEGS, legs\n\n\ndef test_it():\n    assert 3 + 1 == LEGS\n"
    site.write("tests/test_cats.py", head + asserts)
    ledger.write(site.project.ledger, command.survey(site.project).as_ledger())
    hooks._evaluator = None
    evidence._assertions.cache_clear()
    begin = time.perf_counter()
    build = command.survey(site.project)
    seconds = time.perf_counter() - begin
    assert build.faults == []
    assert sum(figure.kind == "computed" for figure in build.figures) > count
    return seconds


def evaluated_once() -> None:
    """An expression that is quoted often is evaluated once."""
    with tempfile.TemporaryDirectory() as folder:
        site = TinySite(Path(folder))
        quotes = " ".join(['[[= number("legs(3)") =]]'] * 1_000)
        site.edit("docs/lessons/cats.md", "Every Leg-2000", f"{quotes} Every Leg-2000")
        build = command.survey(site.project)
        quoted = sum(figure.name == "legs(3)" for figure in build.figures)
        print(f"legs(3) quoted {quoted:,} times; asked of the lesson code in the whole build: {build.evaluator.asked}")


def truncate_is_linear() -> None:
    """`truncate` counts each message once, whatever the limit."""
    print("truncate (held to: linear up to 1,000,000 messages):")
    for limit, name in ((10, "small limit"), (10**9, "limit that holds all")):
        times = []
        for count in (100_000, 1_000_000):
            chat = [filler("user" if n % 2 == 0 else "assistant", 1) for n in range(count + 1)]
            begin = time.perf_counter()
            truncate(chat, limit)
            times.append(time.perf_counter() - begin)
        print(f"  {name:22} 1,000,000 messages take {times[1] / times[0]:4.1f} times as long as 100,000")


MEASUREMENTS: tuple[Callable[[], None], ...] = (overhead, figures_on_a_page, evaluated_once, truncate_is_linear)

if __name__ == "__main__":
    logging.getLogger("mkdocs").addHandler(logging.NullHandler())
    logging.getLogger("mkdocs").propagate = False
    chosen = sys.argv[1:]
    for measurement in MEASUREMENTS:
        if not chosen or measurement.__name__ in chosen:
            measurement()
