"""Every page in a real browser, in both palettes and at both widths: what must hold on all of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import markdown
import pytest
from lxml import html
from playwright.sync_api import expect

from tests.browser.conftest import BUDGET, pages

EVERY_PAGE = pytest.mark.parametrize("path", pages())


@EVERY_PAGE
def test_a_page_is_sound(visit: Callable[..., Any], path: str) -> None:
    """If this failed, a reader would scroll sideways, or a page would call another host or break in the console."""
    for palette in BUDGET["palettes"]:
        for width in BUDGET["widths"]:
            window = visit(path, color_scheme=palette, viewport={"width": width, "height": 900})
            page = window.page
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert len(window.errors) <= BUDGET["console_errors"], window.errors
            assert len(window.foreign) <= BUDGET["foreign_requests"], window.foreign


TEXT = """() => {
    const article = document.querySelector("article").cloneNode(true);
    article.querySelectorAll("button, nav, form, dialog, template, [hidden]").forEach((part) => part.remove());
    return article.textContent.replace(/\\s+/g, " ");
}"""


@EVERY_PAGE
def test_a_page_is_whole_without_scripts(visit: Callable[..., Any], path: str) -> None:
    """Where scripts are blocked, a reader would get less than the page."""
    whole = visit(path).page.evaluate(TEXT)
    page = visit(path, java_script_enabled=False).page
    assert page.evaluate(TEXT) == whole
    for picture in page.locator("article svg:visible").all():
        box = picture.bounding_box()
        assert min(box["width"], box["height"]) > 10
    for folded in page.locator("article details").all()[:3]:
        if folded.get_attribute("open") is None:
            folded.locator("summary").first.click()
        expect(folded.locator("> :not(summary)").last).to_be_visible()


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


SEEN = """() => {
    const article = document.querySelector("article").cloneNode(true);
    const used = "button, nav, form, dialog, template, input, output, select, script, style, [hidden], .headerlink";
    article.querySelectorAll(used).forEach((part) => part.remove());
    article.querySelectorAll("svg").forEach((svg) => svg.replaceWith(svg.querySelector("title")?.textContent ?? ""));
    return article.innerHTML;
}"""


@EVERY_PAGE
def test_the_markdown_of_a_page_says_the_same(visit: Callable[..., Any], path: str) -> None:
    """A machine would read other figures than a person."""
    window = visit(path, java_script_enabled=False)
    page = window.page
    link = page.locator("link[rel~=alternate][type='text/markdown']")
    address = link.evaluate("link => link.href")
    assert address == f"{window.address}{path}index.md"
    answer = page.request.get(address)
    assert answer.ok
    text = answer.text()
    assert not re.search(
        "[\ue000-\uf8ff\U000f0000-\U0010ffff]|{{|{%", re.sub("`[^`]*`|```.*?```", "", text, flags=re.S)
    )
    again = html.fromstring(markdown.markdown(text, extensions=["tables", "def_list", "pymdownx.superfences"]))
    assert _numbers(again) == _numbers(html.fromstring(page.evaluate(SEEN)))


def _numbers(element: Any) -> list[str]:
    return re.findall(r"\d+", " ".join(element.itertext()))


def test_the_list_for_machines_leads_to_every_page(visit: Callable[..., Any]) -> None:
    """A machine would miss a lesson."""
    window = visit("")
    text = window.page.request.get(f"{window.address}llms.txt").text()
    links = re.findall(r"^- \[.+\]\((.+)\): .+", text, re.M)
    assert {f"{path}index.md" for path in pages()} <= set(links)
    assert all(window.page.request.get(window.address + link).ok for link in links)
