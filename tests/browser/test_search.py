"""Finding things: the search, the way from page to page, and what stands where no page is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lxml import html
from playwright.sync_api import expect

from tests.browser.conftest import pages


def words(element: Any) -> set[str]:
    """The long words of a part of a page."""
    return set(re.findall(r"[A-Za-z]{6,}", element.text_content()))


def only_in_output(built: Path) -> dict[str, str]:
    """For each page that has one: a word that stands nowhere on the site but in the output of its examples."""
    outputs: dict[str, set[str]] = {}
    elsewhere: set[str] = set()
    for path in pages():
        article = html.parse(built / path / "index.html").find(".//article")
        outputs[path] = set()
        for block in article.xpath(".//*[@data-block]"):
            for output in block.xpath(".//pre")[1:]:
                outputs[path] |= words(output)
                output.getparent().remove(output)
        elsewhere |= words(article)
    return {path: min(found - elsewhere) for path, found in outputs.items() if found - elsewhere}


def test_search_finds_what_an_example_prints(visit: Callable[..., Any], built: Path) -> None:
    """A reader who remembers a word of an output would not find its page again."""
    wanted = only_in_output(built)
    assert wanted
    page = visit("changelog/").page
    for path, word in wanted.items():
        query = page.get_by_role("textbox", name="Search")
        query.fill("")
        query.press_sequentially(word)
        expect(page.locator(".md-search-result__item mark").first).to_have_text(re.compile(word, re.I))
        expect(page.locator(f".md-search-result__item a[href*='{path}']").first).to_be_visible()


def test_tests_and_reference_stay_out_of_the_search(built: Path) -> None:
    """Who searches for an idea would be led to the code of its tests."""
    index = json.loads((built / "search" / "search_index.json").read_text(encoding="utf-8"))
    places = {entry["location"].partition("#")[0] for entry in index["docs"]}
    assert "lessons/context_window/" in places
    assert [place for place in places if place.startswith("reference/")] == []


def test_every_page_leads_on(visit: Callable[..., Any]) -> None:
    """A reader at the end of a page would have to go back to the menu."""
    page = visit("").page
    onwards, back = page.locator("footer a[aria-label^='Next:']"), page.locator("footer a[aria-label^='Previous:']")
    seen = ["Home"]
    while onwards.count():
        onwards.click()
        expect(back).to_be_visible()
        assert page.url not in seen
        seen.append(page.url)
    assert len(seen) > 5
    back.click()
    assert page.url == seen[-2]


def test_code_can_be_copied(visit: Callable[..., Any]) -> None:
    """A reader would have to select the code by hand, or would get the signs of a prompt with it."""
    window = visit("lessons/context_window/", permissions=["clipboard-read", "clipboard-write"])
    block = window.page.locator("[data-block]").first
    block.hover()
    block.get_by_role("button", name="Copy to clipboard").first.click()
    expect(window.page.get_by_text("Copied to clipboard")).to_be_visible()
    copied = window.page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == block.locator("pre code").first.text_content().strip()


def test_a_missing_page_helps_on_at_any_depth(visit: Callable[..., Any]) -> None:
    """A host shows the page of missing addresses anywhere below the site; its links must lead home from there."""
    for wrong in ("nothing", "lessons/context-windw/", "lessons/a/b/c.html"):
        window = visit(wrong)
        page = window.page
        page.wait_for_selector("html[data-ready=found]")
        expect(page.get_by_role("heading", name="There is no page at this address")).to_be_visible()
        assert window.foreign == []
        links = page.locator("main a").evaluate_all("links => links.map(link => link.href)")
        assert f"{window.address}lessons/context_window/" in links
        assert all(page.request.get(link).ok for link in links)
    page.goto(f"{window.address}lessons/context_windw/")
    page.wait_for_selector("html[data-ready=found]")
    expect(page.get_by_label("Search the site")).to_have_value("context windw")
    page.get_by_label("Search the site").fill("biscuit")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".md-search-result__item").first).to_be_visible()
    assert page.url.startswith(f"{window.address}?q=biscuit")
