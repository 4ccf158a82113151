"""What the first view of a page weighs, and that nothing moves in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import BUDGET, pages

EVERY_PAGE = pytest.mark.parametrize("path", pages())
SEARCH_INDEX = "search/search_index.json"


@EVERY_PAGE
def test_the_first_view_is_light(
    browser: Any, address: str, path: str, record_property: Callable[[str, object], None]
) -> None:
    """If this failed, the page would be slow on a telephone; what weighs is named."""
    context = browser.new_context(viewport={"width": BUDGET["widths"][0], "height": 900})
    page = context.new_page()
    answers: list[Any] = []
    page.on("requestfinished", lambda answer: answers.append(answer))
    page.goto(address + path)
    page.wait_for_load_state("networkidle")
    weights = {answer.url.removeprefix(address): sum(_sizes(answer)) for answer in answers}
    context.close()
    assert weights[path] > 0, "the page itself was not measured"
    record_property("search index", weights.pop(SEARCH_INDEX, 0))
    table = "\n".join(f"{weight:>8,} {name or 'index.html'}" for name, weight in sorted(weights.items()))
    assert sum(weights.values()) <= BUDGET["first_view_kb"] * 1000, f"{sum(weights.values()):,} bytes:\n{table}"


def _sizes(answer: Any) -> tuple[int, int]:
    """The bytes of the body as it was sent, and those of the headers.

    The browser keeps no account of the body of a worker's script, whose length is what its header says.
    """
    sizes = answer.sizes()
    length = int(answer.response().headers.get("content-length", 0))
    return max(sizes["responseBodySize"], length), sizes["responseHeadersSize"]


WATCH = """
window.shifts = [];
new PerformanceObserver((list) => {
    for (const {value, hadRecentInput, sources} of list.getEntries()) {
        const moved = sources.map(({node}) => (node?.outerHTML ?? node?.nodeName ?? "").slice(0, 120));
        if (!hadRecentInput) window.shifts.push({value, moved});
    }
}).observe({type: "layout-shift", buffered: true});
"""


@EVERY_PAGE
@pytest.mark.parametrize("width", BUDGET["widths"])
def test_nothing_moves(browser: Any, address: str, path: str, width: int) -> None:
    """If this failed, a reader would lose the line, or press what was not there a moment ago."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(address + path)
    page.wait_for_load_state("networkidle")
    for place in (0.2, 0.4, 0.6, 0.8, 1):
        page.evaluate("(place) => scrollTo(0, place * document.documentElement.scrollHeight)", place)
        _painted(page)
    for folded in page.locator("article details > summary").all()[:8]:
        if folded.is_visible():
            folded.click()
            _painted(page)
    shifts = page.evaluate("shifts")
    context.close()
    assert sum(shift["value"] for shift in shifts) <= BUDGET["layout_shift"], shifts


def _painted(page: Any) -> None:
    """Wait until what was asked for stands on the screen."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_a_move_would_be_seen(browser: Any, address: str) -> None:
    """A watch that sees nothing would call every page still."""
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.evaluate("document.querySelector('h1').style.marginBottom = '300px'")
    page.wait_for_function("shifts.length > 0")
    context.close()
