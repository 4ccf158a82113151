"""Every page in a real browser, in both palettes and at both widths: what must hold on all of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import markdown
import pytest
from lxml import html

from tests.browser.conftest import AT_ONCE, BUDGET, LARGE, LOOKS, OPEN_ALL, look, moved, pages

UNREACHABLE = """() => [...document.querySelectorAll("article *")].filter((box) =>
    ["auto", "scroll"].includes(getComputedStyle(box).overflowX) && box.scrollWidth > box.clientWidth
    && !(box.tabIndex >= 0 && box.getAttribute("aria-label") && box.getAttribute("role"))
).map((box) => box.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("path", pages())
def test_a_page_is_sound(visit: Callable[..., Any], path: str) -> None:
    """If this failed, a reader would lose the line, scroll sideways, or find the page broken in one of its looks.

    In one visit: nothing moves by itself, breaks in the console or calls another host; and in both palettes and at both
    widths, folded and unfolded, nothing scrolls the page sideways, and the keyboard reaches all that scrolls in itself,
    by a name. On a small screen, `test_the_first_view_is_light_and_still` looks at what moves.
    """
    window = visit(path, watched=True, color_scheme="dark")
    page = window.page
    shifts = moved(page)
    page.wait_for_load_state("networkidle")
    faults = [f"moves at {LARGE}: {shifts}"] if sum(each["value"] for each in shifts) > BUDGET["layout_shift"] else []
    page.add_style_tag(content=AT_ONCE)
    for state in ("folded", "unfolded"):
        for palette, width in LOOKS:
            look(page, palette, width)
            sideways = page.evaluate("document.documentElement.scrollWidth")
            if sideways > width:
                faults.append(f"{palette}, {width}, {state}: {sideways} pixels wide")
            if state == "unfolded" and (unreachable := page.evaluate(UNREACHABLE)):
                faults.append(f"{palette}, {width}, {state}: out of reach: {unreachable}")
        page.evaluate(OPEN_ALL)
    assert faults == [], "\n".join([path, *faults])
    assert len(window.errors) <= BUDGET["console_errors"], window.errors
    assert len(window.foreign) <= BUDGET["foreign_requests"], window.foreign


def test_nothing_is_animated_for_those_who_asked_for_rest(visit: Callable[..., Any]) -> None:
    """Who gets dizzy from motion has told the browser so."""
    page = visit("lessons/context_window/", reduced_motion="reduce", viewport={"width": 375, "height": 800}).page
    for box in ("#__drawer", "#__drawer", "#__search", "#__search"):
        page.evaluate("(box) => document.querySelector(box).click()", box)
        assert page.evaluate("document.getAnimations().length") == 0
    page.locator("article summary").first.click()
    assert page.evaluate("document.getAnimations().length") == 0
    moving = visit("lessons/context_window/", viewport={"width": 375, "height": 800}).page
    moving.evaluate("document.querySelector('#__drawer').click()")
    assert moving.evaluate("document.getAnimations().length") > 0  # what is asked for is seen where it is not


USED = "button nav form fieldset dialog template input output select script style".split()  # noqa: SIM905
"""What is there to be used, and not to be read."""


@pytest.mark.parametrize("path", pages())
def test_the_markdown_of_a_page_says_the_same(built: Path, path: str) -> None:
    """A machine would read other figures than a person."""
    page = html.parse(str(built / path / "index.html")).getroot()
    (link,) = page.xpath("//link[@type='text/markdown'][contains(concat(' ', @rel, ' '), ' alternate ')]")
    assert link.get("href") == "index.md"
    text = (built / path / "index.md").read_text(encoding="utf-8")
    (article,) = page.iter("article")
    for part in [*article.iter(*USED), *article.xpath(".//*[@hidden]"), *article.find_class("headerlink")]:
        part.drop_tree()
    for picture in [*article.iter("svg")]:
        title = picture.findtext(".//title") or ""
        picture.tail = title + (picture.tail or "")
        picture.drop_tree()
    extensions = ["tables", "def_list", "pymdownx.superfences", "pymdownx.highlight"]
    plain = {"pymdownx.highlight": {"use_pygments": False}}
    again = html.fromstring(markdown.markdown(text, extensions=extensions, extension_configs=plain))
    assert _numbers(again) == _numbers(article)
    for code in [*again.iter("code")]:
        code.drop_tree()
    assert not re.search("[\ue000-\uf8ff\U000f0000-\U0010ffff]|{{|{%", again.text_content())


def _numbers(element: Any) -> list[str]:
    return re.findall(r"\d+", " ".join(element.itertext()))


def test_the_list_for_machines_leads_to_every_page(visit: Callable[..., Any]) -> None:
    """A machine would miss a lesson."""
    window = visit("")
    text = window.page.request.get(f"{window.address}llms.txt").text()
    links = re.findall(r"^- \[.+\]\((.+)\): .+", text, re.M)
    assert {f"{path}index.md" for path in pages()} <= set(links)
    assert all(window.page.request.get(window.address + link).ok for link in links)
