"""What the first view of a page weighs, and that nothing moves in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import BUDGET, SMALL, Visit, moved, pages

SEARCH_INDEX = "search/search_index.json"


@pytest.mark.parametrize("path", pages())
def test_the_first_view_is_light_and_still(
    visit: Callable[..., Any], address: str, path: str, record_property: Callable[[str, object], None]
) -> None:
    """If this failed, the page would be slow on a telephone, or what a reader is about to press would move away.

    What weighs is named. The browser remembers nothing from another page. On a large screen, `test_a_page_is_sound`
    looks at what moves.
    """
    window: Visit = visit(None, fresh=True, watched=True, viewport={"width": SMALL, "height": 900})
    page = window.page
    answers: list[Any] = []
    page.on("requestfinished", lambda answer: answers.append(answer))
    window.to(path, quiet=True)
    weights = {answer.url.removeprefix(address): sum(_sizes(answer)) for answer in answers}
    assert weights[path] > 0, "the page itself was not measured"
    record_property("search index", weights.pop(SEARCH_INDEX, 0))
    table = "\n".join(f"{weight:>8,} {name or 'index.html'}" for name, weight in sorted(weights.items()))
    shifts = moved(page)
    assert sum(weights.values()) <= BUDGET["first_view_kb"] * 1000, f"{sum(weights.values()):,} bytes:\n{table}"
    assert sum(shift["value"] for shift in shifts) <= BUDGET["layout_shift"], shifts
    assert len(window.errors) <= BUDGET["console_errors"], window.errors
    assert len(window.foreign) <= BUDGET["foreign_requests"], window.foreign


def _sizes(answer: Any) -> tuple[int, int]:
    """The bytes of the body as it was sent, and those of the headers.

    The browser keeps no account of the body of a worker's script, whose length is what its header says.
    """
    sizes = answer.sizes()
    length = int(answer.response().headers.get("content-length", 0))
    return max(sizes["responseBodySize"], length), sizes["responseHeadersSize"]


def test_a_move_would_be_seen(visit: Callable[..., Any]) -> None:
    """A watch that sees nothing would call every page still."""
    page = visit("", watched=True).page
    page.evaluate("document.querySelector('h1').style.marginBottom = '300px'")
    page.wait_for_function("shifts.length > 0")
