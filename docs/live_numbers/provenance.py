"""Where every figure of a page comes from, as two lists at its end: the sources and the numbers."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from live_numbers.build import ASSERTED, Build, Figure, Page
from live_numbers.evidence import Assertion
from live_numbers.lint import visible_text
from live_numbers.tokens import Piece, tokens

HOW = {
    "by hand": "asserted with a value worked out by hand",
    "published": "asserted with a published value",
    "by oracle": "asserted with a slow and obvious reference",
}
DEFINED = re.compile(r"lesson_code(?:\.\w+)+")


def sections(build: Build, page: Page) -> str:
    """The Markdown to put behind a page: nothing where it quotes no figure."""
    parts = []
    if page.cited:
        parts.append("## Sources {#sources}\n\n" + _block(page, _sources(build, page)))
    figures = [figure for figure in build.figures if figure.page == page.uri and figure.kind in ASSERTED]
    figures = list({(figure.name, figure.written): figure for figure in figures}.values())
    if figures:
        parts.append("## Numbers on this page {#numbers-on-this-page}\n\n" + _block(page, _numbers(build, figures)))
    return "\n\n" + "\n\n".join(parts) + "\n" if parts else ""


def _block(page: Page, content: str) -> str:
    """The token of a list; its text is remembered, so that it may stand on the page as it is."""
    page.shown.lists.add(visible_text(content))
    return tokens.put(Piece(f'<div data-list="">{content}</div>', ""))


def _sources(build: Build, page: Page) -> str:
    """Each source once, with the words that were taken from it."""
    items = []
    for name in dict.fromkeys(key.partition(".")[0] for key in page.cited):
        source = build.sources[name]
        figures = [source.figures[key.partition(".")[2]] for key in page.cited if key.partition(".")[0] == name]
        quotes = dict.fromkeys(figure.quote for figure in figures)
        said = "".join(f"<li><q>{html.escape(quote)}</q></li>" for quote in quotes)
        link = f'<a href="{html.escape(source.address)}">{html.escape(source.title)}</a>'
        about = f"{html.escape(source.author)}: {link} ({html.escape(source.read)}) {html.escape(source.note)}"
        items.append(f'<li id="source-{html.escape(name)}">{about}<ul>{said}</ul></li>')
    return f'<ul class="ln-sources">{"".join(items)}</ul>'


def _numbers(build: Build, figures: list[Figure]) -> str:
    """Each expression once: value, expression, the code that computes it, the test that asserts it."""
    by_name: dict[str, list[Figure]] = {}
    for figure in figures:
        by_name.setdefault(figure.expression, []).append(figure)
    items = []
    for name, uses in by_name.items():
        first = uses[0]
        written = dict.fromkeys(figure.written for figure in uses if figure.written)
        values = ", ".join(
            f'<data value="{html.escape(str(first.value))}" data-expr="{html.escape(name)}">{html.escape(text)}</data>'
            for text in written
        )
        facts = (
            [f"computed by {_codes(sorted(set(DEFINED.findall(first.code))))}"] if DEFINED.search(first.code) else []
        )
        if first.sources:
            links = (f'<a href="#source-{key.partition(".")[0]}"><code>{key}</code></a>' for key in first.sources)
            facts.append(f"from the source {', '.join(links)}")
        facts.append(_asserted((build.asserted or {}).get(first.code, [])))
        items.append(
            f"<dt>{values or 'a column or a curve'}</dt><dd><code>{html.escape(name)}</code><br>{'; '.join(facts)}</dd>"
        )
    return (
        '<details class="ln-numbers"><summary>Every computed figure of this page, the code that computes it and the '
        f"test that asserts it</summary><dl>{''.join(items)}</dl></details>"
    )


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"<code>{html.escape(name)}</code>" for name in names)


def _asserted(assertions: list[Assertion]) -> str:
    """Which test asserts a figure, and where its expected value comes from."""
    if not assertions:
        return '<strong class="ln-fault">asserted by no test</strong>'
    first = assertions[0]
    return f"{HOW[first.how]} in {_codes([first.test])}"
