"""Where every figure of a page comes from, as two lists at its end: the sources and the numbers.

The panel that opens beside a figure takes what it says from these lists: see `docs/assets/panel.js`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from live_numbers import places
from live_numbers.build import ASSERTED, Build, Figure, Page
from live_numbers.evidence import Assertion
from live_numbers.lint import visible_text
from live_numbers.places import Place
from live_numbers.sources import Source
from live_numbers.tokens import Piece, tokens

HOW = {
    "by hand": "asserted with a value worked out by hand",
    "published": "asserted with a published value",
    "by oracle": "asserted with a slow and obvious reference",
}
DEFINED = re.compile(r"lesson_code(?:\.\w+)+")
LONGEST_EXPECTED = 72
"""Characters of an expected value that are shown: beyond, the test itself is the better place to read it."""


def sections(build: Build, page: Page) -> str:
    """The Markdown to put behind a page: nothing where it quotes no figure."""
    parts = []
    if page.cited:
        parts.append("## Sources {#sources}\n\n" + build.listed(_sources(build, page)))
    figures = _quoted(build, page)
    if figures or _chosen(build, page):
        content = (
            '<details class="ln-numbers"><summary>Every computed figure of this page, the code that computes it and '
            f"the test that asserts it</summary><dl>{_numbers(build, page, figures)}</dl></details>"
        )
        parts.append("## Numbers on this page {#numbers-on-this-page}\n\n" + build.listed(content))
    return "\n\n" + "\n\n".join(parts) + "\n" if parts else ""


# Sources.


def _sources(build: Build, page: Page) -> str:
    """Each source once, with the words that were taken from it for this page."""
    by_source: dict[str, list[str]] = {}
    for key in page.cited:
        by_source.setdefault(key.partition(".")[0], []).append(key)
    items = (_source(build.sources[name], keys) for name, keys in by_source.items())
    return f'<ul class="ln-sources">{"".join(items)}</ul>'


def _source(source: Source, keys: Iterable[str], used: str = "") -> str:
    """A source, and the quotes with the figures of these keys, each quote once."""
    by_quote: dict[str, list[str]] = {}
    for key in keys:
        by_quote.setdefault(source.figures[key.partition(".")[2]].quote, []).append(key)
    said = "".join(
        f'<li data-keys="{html.escape(" ".join(names))}"><q>{html.escape(quote)}</q></li>'
        for quote, names in by_quote.items()
    )
    link = f'<a href="{html.escape(source.address)}">{html.escape(source.title)}</a>'
    about = f"{html.escape(source.author)}: {link} ({html.escape(source.read)}) {html.escape(source.note)}".strip()
    return f'<li id="source-{html.escape(source.key)}"><span>{about}</span>{used}<ul>{said}</ul></li>'


def all_sources(build: Build) -> str:
    """Every source with all its quotes, and the pages that cite it; for the reference."""
    pages: dict[str, dict[str, Page]] = {}
    for uri in build.in_order(build.pages):
        for key in build.pages[uri].cited:
            pages.setdefault(key.partition(".")[0], {})[uri] = build.pages[uri]
    items = []
    for source in sorted(build.sources.values(), key=lambda source: (source.author.lower(), source.title.lower())):
        places_ = [Place(uri, f"source-{source.key}") for uri in pages.get(source.key, ())]
        links = [build.link(place, html.escape(build.pages[place.uri].title)) for place in places_]
        used = f"<br>Cited on: {', '.join(links)}" if links else ""
        items.append(_source(source, [figure.key for figure in source.figures.values()], used))
    build.in_reference["all_sources"] = frozenset(build.pages)
    return build.listed(f'<ul class="ln-sources">{"".join(items)}</ul>')


# Numbers.


def _quoted(build: Build, page: Page) -> dict[str, list[Figure]]:
    """The computed figures of a page by their expression, and of each the different ways it is written."""
    found: dict[str, dict[str, Figure]] = {}
    for figure in build.figures:
        if figure.page == page.uri and figure.kind in ASSERTED:
            found.setdefault(figure.expression, {}).setdefault(figure.written, figure)
    return {name: list(uses.values()) for name, uses in found.items()}


def _chosen(build: Build, page: Page) -> list[str]:
    """The inputs of a page, each once."""
    return list(dict.fromkeys(str(given.value) for given in build.givens if given.page == page.uri))


def _numbers(build: Build, page: Page, figures: dict[str, list[Figure]], on_page: bool = True) -> str:
    """What the page computes, then what its author chose for it: axes and inputs.

    On the page itself the entries have ids; elsewhere, links to them.
    """
    items = [
        _entry(build, Place(page.uri, f"number-{number}"), name, uses, on_page)
        for number, (name, uses) in enumerate(figures.items(), start=1)
    ]
    for name in page.axes:
        said = "chosen by the author: what the columns or the curves beside it run over"
        items.append(f"<dt>a column or an axis</dt><dd>{_code(name)}<br>{said}</dd>")
    if chosen := _chosen(build, page):
        place = ' id="number-inputs"' if on_page else ""
        said = "chosen by the author; every one stands in an expression or an example of the page"
        items.append(f"<dt{place}>{html.escape(', '.join(chosen))}</dt><dd>{said}</dd>")
    return "".join(items)


def _entry(build: Build, place: Place, name: str, uses: list[Figure], on_page: bool) -> str:
    """A figure: as it is written, its expression, the code that computes it, its sources, the test that asserts it."""
    first = uses[0]
    written = ", ".join(html.escape(figure.written) for figure in uses if figure.written) or "a column or a curve"
    head = f'<dt id="{place.fragment}">{written}</dt>' if on_page else f"<dt>{build.link(place, written)}</dt>"
    facts = [_code(name), _computed(build, first), _based(build, first, on_page), _asserted(build, first)]
    return f"{head}<dd>{'<br>'.join(fact for fact in facts if fact)}</dd>"


def _computed(build: Build, figure: Figure) -> str:
    names = sorted(set(DEFINED.findall(figure.code)))
    lessons = build.project.lessons
    codes = (build.link(places.of_code(lessons, name), _code(name.partition(".")[2])) for name in names)
    return f"computed by {', '.join(codes)}" if names else ""


def _based(build: Build, figure: Figure, on_page: bool) -> str:
    page = figure.page if on_page else places.SOURCES
    links = (build.link(Place(page, f"source-{key.partition('.')[0]}"), _code(key)) for key in figure.sources)
    return f"from the source {', '.join(links)}" if figure.sources else ""


def _asserted(build: Build, figure: Figure) -> str:
    """Which test asserts a figure, and where its expected value comes from."""
    assertions: list[Assertion] = (build.asserted or {}).get(figure.code, [])
    if not assertions:
        return '<strong class="ln-fault">asserted by no test</strong>'
    first = assertions[0]
    expected = f" as {_code(first.expected)}" if len(first.expected) <= LONGEST_EXPECTED else ""
    test = build.link(places.of_test(first.test, build.test_pages), _code(first.test.partition("/")[2]))
    return f"{HOW[first.how]}{expected} in {test}"


def _code(text: str) -> str:
    return f"<code>{html.escape(text)}</code>"


def all_numbers(build: Build) -> str:
    """Every computed figure of every page, as the pages list their own; for the reference."""
    parts = []
    for uri in build.in_order(build.pages):
        page = build.pages[uri]
        if figures := _quoted(build, page):
            title = f'<span data-list="">{build.link(Place(uri, ""), html.escape(page.title))}</span>'
            build.page.shown.lists.add(visible_text(title))
            head = f"## {tokens.put(Piece(title, page.title))} {{ #{uri.removesuffix('.md').replace('/', '-')} }}"
            content = f'<dl class="ln-numbers">{_numbers(build, page, figures, on_page=False)}</dl>'
            parts += [head, build.listed(content)]
    build.in_reference["all_numbers"] = frozenset(build.pages)
    return "\n\n".join(parts)
