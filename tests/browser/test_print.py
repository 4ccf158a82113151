"""A page without scripts and on paper: all of its text is there, nothing is cut off or cannot work."""

from __future__ import annotations

import difflib
import io
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from pypdf import PdfReader

from tests.browser.conftest import LARGE, pages

TEXT = """() => {
    const article = document.querySelector("article").cloneNode(true);
    const used = "button, nav, form, dialog, template, .run-status, [hidden]";
    article.querySelectorAll(used).forEach((part) => part.remove());
    return article.textContent.replace(/\\s+/g, " ");
}"""

FOLDED = """() => [...document.querySelectorAll("article details > :not(summary)")].filter((part) =>
    part.textContent.trim() && !part.closest("form, [hidden]")
    && !(part.checkVisibility() && part.getBoundingClientRect().height > 0)
).map((part) => part.outerHTML.slice(0, 120))"""

CUT_OFF = """() => [...document.querySelectorAll("article pre, article pre > code, article table, article svg")]
    .filter((box) => box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible"
        || box.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map((box) => box.outerHTML.slice(0, 120))"""

ON_SCREEN_ONLY = """() => [...document.querySelectorAll(
    "header, .md-sidebar, .md-footer, .md-search, .md-top, .headerlink, button, .md-skip"
)].filter((part) => {
    const box = part.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && part.checkVisibility({visibilityProperty: true});
}).map((part) => part.outerHTML.slice(0, 120))"""

FLAT = """() => [...document.querySelectorAll("article svg")].filter((picture) => {
    const {width, height} = picture.getBoundingClientRect();
    const seen = width > 0 && height > 0 && picture.checkVisibility({visibilityProperty: true});
    return seen && Math.min(width, height) <= 10;
}).map((picture) => picture.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("path", pages())
def test_a_page_is_whole_without_scripts_and_on_paper(visit: Callable[..., Any], path: str) -> None:
    """Where scripts are blocked, a reader would get less than the page; on paper, it would lack answers and line ends.

    The page is visited with scripts and without.
    """
    scripted, plain = visit(path).page, visit(path, java_script_enabled=False).page
    faults = []
    if (text := plain.evaluate(TEXT)) != (whole := scripted.evaluate(TEXT)):
        faults.append(f"without scripts: {_difference(whole, text)}")
    faults += [f"on paper, {fault}" for fault in _on_paper(scripted)]
    if lacking := _not_printed(scripted):
        faults.append(f"not in the printed file: {lacking}")
    faults += [f"on paper, without scripts, {fault}" for fault in _on_paper(plain)]
    plain.set_viewport_size({"width": LARGE, "height": 900})
    plain.emulate_media(media="screen")
    faults += [f"a flat picture: {picture}" for picture in plain.evaluate(FLAT)]
    assert faults == [], "\n".join([path, *faults])
    for folded in plain.locator("article details").all()[:3]:
        if folded.get_attribute("open") is None:
            folded.locator("summary").first.click()
        expect(folded.locator("> :not(summary)").last).to_be_visible()


def _difference(whole: str, text: str) -> str:
    """The words that stand in one text alone."""
    differing = difflib.unified_diff(whole.split(), text.split(), "with scripts", "without", n=3, lineterm="")
    return " ".join(itertools.islice(differing, 60))


def _on_paper(page: Any) -> list[str]:
    """What a printed page would lack, or have too much."""
    page.set_viewport_size({"width": 720, "height": 1000})
    page.emulate_media(media="print")
    found = {"folded": page.evaluate(FOLDED), "cut off": page.evaluate(CUT_OFF), "shown": page.evaluate(ON_SCREEN_ONLY)}
    return [f"{fault}: {parts}" for fault, parts in found.items() if parts]


FOLDED_ALONE = """() => {
    const parts = [...document.querySelectorAll("article > :not(h1)")].filter((part) => !part.matches(":has(details)"));
    parts.filter((part) => part.localName !== "details").forEach((part) => part.remove());
    document.querySelectorAll("article :is(pre, table, svg)").forEach((part) => part.remove());
    return [...document.querySelectorAll("article h1, article details > p")].map((part) => part.textContent).join(" ");
}"""


def _not_printed(page: Any) -> Counter[str]:
    """The words of the title and of what is folded that are not in the file that the browser prints, by its own rules.

    All else is taken from the page before: to read hundreds of sheets takes long, and others' words prove nothing.
    """
    missing = _words(page.evaluate(FOLDED_ALONE))
    assert missing
    for sheet in PdfReader(io.BytesIO(page.pdf())).pages:
        missing -= _words(sheet.extract_text())
    return missing


def _words(text: str) -> Counter[str]:
    """The words of a text, each as often as it stands there: on paper, lines and pages end elsewhere."""
    return Counter(re.findall("[a-z]+", unicodedata.normalize("NFKC", text).lower()))
