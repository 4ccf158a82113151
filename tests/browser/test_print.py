"""A page on paper: all that is folded is open, nothing is cut off, and nothing is there that only a screen can do."""

from __future__ import annotations

import io
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from pypdf import PdfReader

from tests.browser.conftest import pages

EVERY_PAGE = pytest.mark.parametrize("path", pages())

FOLDED = """() => [...document.querySelectorAll("article details > :not(summary)")].filter((part) =>
    part.textContent.trim() && !part.closest("form, [hidden]")
    && !(part.checkVisibility() && part.getBoundingClientRect().height > 0)
).map((part) => part.outerHTML.slice(0, 120))"""

CUT_OFF = """() => [...document.querySelectorAll("article pre, article pre > code, article table, article svg")]
    .filter((box) => box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible"
        || box.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map((box) => box.outerHTML.slice(0, 120))"""

ON_SCREEN_ONLY = "header, .md-sidebar, .md-footer, .md-search, .md-top, .headerlink, button, .md-skip"


@EVERY_PAGE
@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
def test_a_page_on_paper_is_whole(visit: Callable[..., Any], path: str, script: bool) -> None:
    """A printed page would lack the answers, or the ends of its lines, or show buttons that nobody can press."""
    page = visit(path, viewport={"width": 720, "height": 1000}, java_script_enabled=script).page
    page.emulate_media(media="print")
    assert page.evaluate(FOLDED) == []
    assert page.evaluate(CUT_OFF) == []
    assert [part.inner_text() for part in page.locator(ON_SCREEN_ONLY).all() if part.is_visible()] == []


@EVERY_PAGE
def test_the_printed_file_has_the_folded_text(visit: Callable[..., Any], path: str) -> None:
    """The browser prints by other rules than it shows; what it prints is what counts."""
    page = visit(path).page
    folded = _words(" ".join(page.locator("article details > p").all_text_contents()))
    printed = _words(" ".join(part.extract_text() for part in PdfReader(io.BytesIO(page.pdf())).pages))
    assert folded - printed == Counter()
    assert _words(page.locator("article h1").text_content()) - printed == Counter()


def _words(text: str) -> Counter[str]:
    """The words of a text, each as often as it stands there: on paper, lines and pages end elsewhere."""
    return Counter(re.findall("[a-z]+", unicodedata.normalize("NFKC", text).lower()))
