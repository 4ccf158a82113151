"""What axe finds on every page, which is nothing, and what it does not see: keys, focus, colours in pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser import axe
from tests.browser.conftest import AT_ONCE, BUDGET, LOOKS, OPEN_ALL, SCHEMES, SMALL, look, pages, painted

EMPTY = "document.querySelectorAll('article > :not(h1)').forEach(part => part.remove())"


@pytest.mark.parametrize("path", pages())
def test_axe_finds_nothing(visit: Callable[..., Any], path: str) -> None:
    """If this failed, somebody who hears the page, or sees it badly, would miss a part of it.

    Axe looks at the page in both palettes and at both widths, with all that is folded open; and once as it is at first,
    which is a part of that and nothing else. By all rules it looks once at every text; by rules that are not about
    colours again at the other width, as they do not depend on the palette; and by those about colours at one text of
    each look in every palette and width. The menu and the search, when they are open, lie over the text: for them it is
    taken away.
    """
    page = visit(path, reduced_motion="reduce").page
    page.add_style_tag(content=AT_ONCE)
    found: list[str] = []

    def looked(what: list[str], state: str) -> None:
        found.extend(f"{palette}, {width}, {state}: {fault}" for fault in what)

    for number, (palette, width) in enumerate(reversed(LOOKS)):
        look(page, palette, width)
        if number == 0:
            looked(axe.faults(page, **axe.NO_COLOURS), "folded")
            page.evaluate(OPEN_ALL)
            painted(page)
            looked(axe.faults(page), "unfolded")
        elif number == 2:
            looked(axe.faults(page, **axe.NO_COLOURS), "unfolded")
        looked(axe.pale(page), "unfolded")
    if path:
        page.evaluate(EMPTY)
    for palette, width in LOOKS:
        look(page, palette, width)
        boxes = {"#__search": ".md-search__output"} | ({"#__drawer": ".md-sidebar--primary"} if width == SMALL else {})
        for box, part in boxes.items():
            page.evaluate("(box) => document.querySelector(box).click()", box)
            expect(page.locator(part)).to_be_visible()
            looked(axe.faults(page, *([".md-header", ".md-sidebar--primary"] if path else [])), f"{part} open")
            page.evaluate("(box) => document.querySelector(box).click()", box)
    assert len(found) <= BUDGET["axe_violations"], "\n".join([path, *found])


def test_axe_finds_nothing_on_the_page_of_missing_addresses(visit: Callable[..., Any]) -> None:
    """Who follows a broken link would be left alone twice."""
    for palette in BUDGET["palettes"]:
        assert axe.faults(visit("lessons/no/such/page/", color_scheme=palette).page) == []


def luminance(colour: tuple[int, ...]) -> float:
    """The relative luminance of a colour, by the definition of WCAG 2."""
    parts = [value / 255 for value in colour]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """How much lighter one of two colours is than the other, from 1 to 21."""
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


COLOURS = """(names) => names.map((name) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    const spot = document.querySelector("article").appendChild(document.createElement("i"));
    spot.style.color = `var(${name})`;
    canvas.fillStyle = getComputedStyle(spot).color;
    spot.remove();
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
})"""


@pytest.mark.parametrize("palette", BUDGET["palettes"])
def test_texts_of_pictures_can_be_read(visit: Callable[..., Any], palette: str) -> None:
    """Axe cannot see what lies behind a text of a picture; a colour that is too pale there would go unseen."""
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    page = visit("", color_scheme=palette).page
    assert page.evaluate("document.body.dataset.mdColorScheme") == SCHEMES[palette]
    names = ["--ln-paper", "--md-typeset-color", "--ln-cut", *(f"--ln-series-{number}" for number in range(1, 5))]
    paper, *inks = (tuple(colour) for colour in page.evaluate(COLOURS, names))
    assert len({paper, *inks}) == len(names)
    too_pale = {name: contrast(paper, ink) for name, ink in zip(names[1:], inks, strict=True)}
    assert {name: value for name, value in too_pale.items() if value < 4.5} == {}


FOCUS = """() => {
    const focused = document.activeElement;  // the switch of the palette is a label behind a box without size
    const spot = focused.matches(".md-option") ? focused.nextElementSibling : focused;
    const box = spot.getBoundingClientRect(), look = getComputedStyle(spot);
    const ring = look.outlineStyle !== "none" && parseFloat(look.outlineWidth) > 0;
    return {
        name: spot === document.body ? "" : `${spot.localName} ${spot.id || spot.className} ${spot.textContent.trim()}`,
        seen: spot.checkVisibility({visibilityProperty: true}) && box.width > 0 && box.right > 0 && box.bottom > 0
            && box.left < innerWidth && box.top < innerHeight,
        ring: ring || spot.matches(".md-search__input"),
    };
}"""


@pytest.mark.parametrize("width", BUDGET["widths"])
def test_the_keyboard_is_always_somewhere_that_can_be_seen(visit: Callable[..., Any], width: int) -> None:
    """Who uses the keyboard would tab through things that are off the screen, or not see where they are."""
    page = visit("lessons/context_window/", viewport={"width": width, "height": 900}, reduced_motion="reduce").page
    stops = []
    for _ in range(60):
        page.keyboard.press("Tab")
        stops.append(page.evaluate(FOCUS))
    assert [stop["name"] for stop in stops if not stop["seen"]] == []
    assert [stop["name"] for stop in stops if not stop["ring"]] == []
    assert len({stop["name"] for stop in stops}) > 20  # it goes on and is not caught anywhere


def test_the_skip_link_leads_to_the_text(visit: Callable[..., Any]) -> None:
    """Who uses the keyboard would have to walk through the menu of every page."""
    page = visit("lessons/context_window/").page
    page.keyboard.press("Tab")
    skip = page.locator(":focus")
    expect(skip).to_have_text("Skip to content")
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('article').contains(document.activeElement)")


def test_menu_and_search_open_by_keyboard_on_a_small_screen(visit: Callable[..., Any]) -> None:
    """The theme opens both by labels, which no key reaches."""
    page = visit("lessons/context_window/", viewport={"width": SMALL, "height": 800}, reduced_motion="reduce").page
    menu, search = page.get_by_role("button", name="Menu"), page.get_by_role("button", name="Search")
    drawer, query = page.locator(".md-sidebar--primary"), page.get_by_role("textbox", name="Search")
    expect(drawer).to_be_hidden()
    menu.focus()
    page.keyboard.press("Space")
    expect(drawer).to_be_visible()
    expect(menu).to_have_attribute("aria-expanded", "true")
    expect(drawer.get_by_role("link", name="Home", exact=True)).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(menu).to_be_focused()
    search.focus()
    page.keyboard.press("Enter")
    expect(query).to_be_focused()
    page.keyboard.press("Escape")
    expect(query).to_be_hidden()
    expect(search).to_be_focused()
