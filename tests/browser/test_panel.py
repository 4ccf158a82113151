"""Provenance in place: the panel beside a figure, by mouse, keyboard and touch, and the lists that it takes it from."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from lxml import html

from tests.browser.conftest import AT_ONCE, BUDGET, LARGE, LOOKS, SMALL, look, pages

try:
    from playwright.sync_api import expect
except ImportError:  # the fixture `browser` says so
    expect = None

LESSON = "lessons/context_window/"
OPEN = ".ln-panel:not([hidden])"
EVERY_PAGE = pytest.mark.parametrize("path", pages())

# Where a figure may stand, with one of that kind on the lesson; and what its panel says.
PLACES = {
    "sentence": ("article > p data[data-expr]", "computed by"),
    "input": ("article > p data[data-given]", "chosen by the author"),
    "quote": ("article > p data[data-cited]", "Google"),
    "source": ("article > p data[data-source]", "from the source"),
    "table": ("article > .ln-table data[data-expr]", "computed by"),
    "heading": ("article > h3 data[data-expr]", "computed by"),
    "caption": ("article figcaption data[data-expr]", "computed by"),
    "answer": ("article details.question p data[data-expr]", "computed by"),
}
WITH_FIGURES = [path for path in pages() if not path.startswith("reference/")]


def document(built: Path, path: str) -> Any:
    """The parsed page at an address."""
    return html.parse(str(built / path / "index.html")).getroot()


def figures(page: Any) -> list[Any]:
    """The figures of a page that stand in its text, and not in the lists at its end."""
    return [data for data in page.iter("data") if not any("data-list" in one.attrib for one in data.iterancestors())]


# The lists.


@EVERY_PAGE
def test_every_figure_is_in_the_lists(built: Path, path: str) -> None:
    """A figure without an entry would have no panel, and no reader without script would learn where it is from."""
    page = document(built, path)
    expressions = {code.text_content() for code in page.xpath("//dl/dd/*[1][self::code]")}
    keys = {key for keys in page.xpath("//li/@data-keys") for key in keys.split()}
    inputs = page.xpath("//dt[@id='number-inputs']/following-sibling::dd")
    for figure in figures(page):
        if figure.get("data-given"):
            assert inputs
        elif figure.get("data-cited"):
            assert figure.get("data-cited") in keys
        else:
            assert figure.get("data-expr") in expressions


@EVERY_PAGE
def test_every_link_of_the_lists_leads_somewhere(built: Path, path: str) -> None:
    """A panel would send its reader to a page that is not there, or to the top of one that is long."""
    ids: dict[str, set[str]] = {}
    for link in document(built, path).xpath("//*[@data-list]//a | //*[@class='filename']/a"):
        target, fragment = urldefrag(urljoin(f"https://site/{path}", link.get("href")))
        if target.startswith("https://site/"):
            target = target.removeprefix("https://site/")
            if target not in ids:
                ids[target] = set(document(built, target).xpath("//@id"))
            assert not fragment or unquote(fragment) in ids[target], link.get("href")


def test_a_lesson_leads_to_its_code_and_its_tests(built: Path) -> None:
    """The links would be missing altogether, and the test above would have nothing to follow."""
    links = [link.get("href") for link in document(built, LESSON).xpath("//dl/dd/a")]
    assert "../../reference/api/context_window/#lesson_code.context_window.tokens_read" in links
    assert "../../reference/tests/kv_memory/#test_kv_memory.test_bytes_at_the_full_window" in links
    code = [link.get("href") for link in document(built, LESSON).xpath("//*[@class='filename']/a")]
    assert "../../reference/api/context_window/#lesson_code.context_window.truncate" in code


# The panel, by mouse.


def at(page: Any, place: str) -> Any:
    """The first figure of a kind; what is folded around it is opened."""
    figure = page.locator(PLACES[place][0]).first
    if not figure.is_visible():
        figure.evaluate("figure => figure.closest('details').open = true")
    figure.scroll_into_view_if_needed()
    return figure


def test_the_mouse_opens_the_panel(visit: Callable[..., Any]) -> None:
    """A reader would not see where a figure comes from, or see it beside another figure."""
    page = visit(LESSON).page
    for (palette, width), (place, (_, said)) in itertools.product(LOOKS, PLACES.items()):
        if place == next(iter(PLACES)):
            look(page, palette, width)
        figure, panel = at(page, place), page.locator(OPEN)
        figure.hover()
        expect(panel).to_have_count(1)
        expect(panel).to_contain_text(said)
        expect(panel).to_contain_text(figure.text_content())
        page.mouse.move(0, 0)
        expect(panel).to_be_hidden()


def test_the_mouse_can_go_to_the_panel(visit: Callable[..., Any]) -> None:
    """The panel would close before its links could be clicked."""
    page = visit(LESSON, fresh=True).page
    page.clock.install()
    at(page, "sentence").hover()
    page.clock.run_for(1_000)
    panel = page.locator(OPEN)
    expect(panel).to_be_visible()
    page.locator("h1").hover()  # on its way
    panel.hover()
    page.clock.run_for(10_000)
    expect(panel).to_be_visible()
    page.locator("h1").hover()
    page.clock.run_for(1_000)
    expect(panel).to_be_hidden()


def test_a_mouse_that_passes_by_opens_nothing(visit: Callable[..., Any]) -> None:
    """Panels would flicker wherever the mouse goes."""
    page = visit(LESSON, fresh=True).page
    page.clock.install()
    at(page, "sentence").hover()
    page.locator("h1").hover()
    page.clock.run_for(10_000)
    assert page.locator(".ln-panel").count() == 0  # it is made when it first opens


def test_escape_closes_what_the_mouse_opened(visit: Callable[..., Any]) -> None:
    """A panel that covers the text could not be put away without moving the mouse."""
    page = visit(LESSON).page
    at(page, "sentence").hover()
    expect(page.locator(OPEN)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(OPEN)).to_be_hidden()


def test_one_panel_at_a_time(visit: Callable[..., Any]) -> None:
    """Two panels would cover each other and the text."""
    page = visit(LESSON).page
    at(page, "quote").hover()
    expect(page.locator(OPEN)).to_contain_text("Google")
    at(page, "sentence").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    expect(page.locator(OPEN)).to_have_count(1)
    expect(page.locator(OPEN)).to_contain_text("computed by")
    assert page.locator(".ln-panel").count() == 1
    assert page.locator("[aria-describedby=figure-panel]").count() == 1


def test_the_links_of_a_panel_lead_to_the_code_and_the_test(visit: Callable[..., Any]) -> None:
    """What the panel names could not be read."""
    page = visit(LESSON).page
    for name in ("kv_memory.load_config", "test_kv_memory.py::test_bytes_at_the_full_window"):
        at(page, "sentence").hover()
        page.locator(OPEN).get_by_role("link", name=name, exact=True).click()
        page.wait_for_url("**/reference/**")
        target = page.locator(":target")
        expect(target).to_be_in_viewport()
        expect(target).to_contain_text(name.split(":")[-1].split(".")[-1])
        page.go_back()


# By keyboard.


def test_the_keyboard_opens_and_leaves_the_panel(visit: Callable[..., Any]) -> None:
    """Without a mouse the panel could not be opened, its links not be reached, or the reader be lost in it."""
    page = visit(LESSON).page
    three = page.locator("article > p:has(data[data-expr] ~ data[data-expr] ~ data[data-expr])").first.locator("data")
    before, figure, after = (three.nth(number) for number in range(3))
    panel = page.locator(OPEN)
    before.focus()
    page.keyboard.press("Tab")
    expect(figure).to_be_focused()
    expect(panel).to_contain_text("asserted with")
    assert figure.get_attribute("aria-describedby") == panel.get_attribute("id")

    # Into the panel, and back.
    page.keyboard.press("Enter")
    expect(panel.get_by_role("link").first).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(figure).to_be_focused()
    expect(panel).to_be_visible()

    # Through its links, and on to the next figure.
    page.keyboard.press("Space")
    for link in panel.get_by_role("link").all():
        expect(link).to_be_focused()
        page.keyboard.press("Tab")
    expect(after).to_be_focused()
    expect(panel).to_have_count(1)
    assert after.get_attribute("aria-describedby") == panel.get_attribute("id")
    assert figure.get_attribute("aria-describedby") is None

    # Escape, from the figure and from within.
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(after).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(figure).to_be_focused()


def test_every_place_is_reached_by_keyboard(visit: Callable[..., Any]) -> None:
    """A figure in a table, say, would be out of reach without a mouse."""
    page = visit(LESSON).page
    page.keyboard.press("Tab")
    for place, (_, said) in PLACES.items():
        figure = at(page, place)
        assert figure.get_attribute("tabindex") == "0"
        figure.focus()
        expect(page.locator(OPEN)).to_contain_text(said)


def test_a_column_is_one_stop_of_the_tab_key(visit: Callable[..., Any]) -> None:
    """Whoever tabs through the page would stop at every cell of a table, to be told the same again."""
    page = visit(LESSON).page
    stops = page.locator("article > .ln-table").first.locator("data[tabindex='0']")
    headings = page.locator("article > .ln-table").first.locator("th")
    assert stops.count() == headings.count()


# By touch.


def test_a_tap_opens_the_panel(visit: Callable[..., Any]) -> None:
    """On a phone nobody would learn where a figure comes from, or be rid of the panel."""
    page = visit(LESSON, has_touch=True, is_mobile=True, viewport={"width": SMALL, "height": 700}).page
    panel = page.locator(OPEN)
    for place, (_, said) in PLACES.items():
        figure = at(page, place)
        figure.tap()
        expect(panel).to_contain_text(said)
        box = panel.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= SMALL
        figure.tap()  # again
        expect(panel).to_be_hidden()
        figure.tap()
        expect(panel).to_be_visible()
        page.locator(".md-header__title").tap()  # elsewhere
        expect(panel).to_be_hidden()


# Figures in links and questions.


@pytest.fixture
def linked(visit: Callable[..., Any]) -> Callable[..., Any]:
    """Opens the lesson with its first computed figure in a link to the end of the page."""

    def opened(**look: Any) -> Any:
        window = visit("", fresh=True, **look)

        def changed(route: Any) -> None:
            answer = route.fetch()
            before, figure, after = answer.text().partition('<data class="ln" value="6039797760"')
            rest, end, tail = after.partition("</data>")
            body = f'{before}<a href="#sources" id="around">{figure}{rest}{end}</a>{tail}'
            route.fulfill(response=answer, body=body)

        window.page.route(f"**/{LESSON}", changed)
        return window.to(LESSON)

    return opened


def test_a_figure_in_a_link_leaves_the_link_as_it_is(linked: Callable[..., Any]) -> None:
    """The link would no longer lead anywhere, or be no single stop, or the figure would say nothing."""
    page = linked()
    link, panel = page.locator("#around"), page.locator(OPEN)
    assert link.locator("[role], [tabindex]").count() == 0
    link.locator("data").hover()
    expect(panel).to_contain_text("computed by")
    page.mouse.move(0, 0)
    expect(panel).to_be_hidden()
    page.keyboard.press("Tab")
    link.focus()
    expect(panel).to_contain_text("computed by")
    assert link.get_attribute("aria-describedby") == panel.get_attribute("id")
    page.keyboard.press("Enter")
    page.wait_for_url("**#sources")


def test_a_tap_on_a_figure_in_a_link_follows_the_link(linked: Callable[..., Any]) -> None:
    """The panel would take the place of what the link promises."""
    page = linked(has_touch=True, viewport={"width": SMALL, "height": 700})
    page.locator("#around data").tap()
    page.wait_for_url("**#sources")
    expect(page.locator(OPEN)).to_be_hidden()


def test_a_figure_in_a_question_leaves_the_question_as_it_is(visit: Callable[..., Any]) -> None:
    """A click on it, or a key, would not fold the answer open; or its figures would say nothing."""
    page = visit(LESSON).page
    details = page.locator("details.question:has(> summary data)").first
    summary, figure, panel = details.locator("summary"), details.locator("summary data").first, page.locator(OPEN)
    assert summary.locator("[role], [tabindex]").count() == 0
    figure.hover()
    expect(panel).to_be_visible()
    figure.click()
    assert details.evaluate("details => details.open")
    expect(panel).to_be_hidden()
    page.mouse.move(0, 0)
    page.keyboard.press("Tab")
    summary.focus()
    for written in summary.locator("data").all_text_contents():
        expect(panel).to_contain_text(written)
    page.keyboard.press("Enter")
    assert not details.evaluate("details => details.open")


# Where it stands.

BOXES = """() => [...document.querySelectorAll("article, article *, .md-footer")].map(one => {
    const {x, y, width, height} = one.getBoundingClientRect()
    return [one.tagName, x, y + scrollY, width, height].join(" ")
})"""


def test_nothing_moves(visit: Callable[..., Any]) -> None:
    """The text would jump while somebody reads, when the script starts or when a panel opens."""
    plain, page = visit("", fresh=True).page, visit(LESSON).page
    plain.route("**/panel.js", lambda route: route.abort())
    plain.goto(page.url)
    for window in (plain, page):
        window.add_style_tag(content=AT_ONCE)
    assert plain.locator("article [role=button]").count() == 0
    assert page.locator("article [role=button]").count() > 0
    for palette, width in LOOKS:
        look(plain, palette, width)
        look(page, palette, width)
        expected = plain.evaluate(BOXES)
        assert page.evaluate(BOXES) == expected
        size = page.evaluate(SIZE)
        page.locator("article > p data").last.hover()
        expect(page.locator(OPEN)).to_be_visible()
        assert page.evaluate(SIZE) == size
        page.mouse.move(0, 0)
        page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
        assert page.evaluate(BOXES) == expected


SIZE = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"

IN_WINDOW = """() => {
    const wrong = []
    for (const details of document.querySelectorAll("article details")) details.open = true
    const panels = document.getElementsByClassName("ln-panel")
    for (const figure of document.querySelectorAll("article [role=button]")) {
        for (const block of ["center", "end"]) {
            figure.scrollIntoView({block, behavior: "instant"})
            figure.click()
            const {left, right, top, bottom} = panels[0].getBoundingClientRect()
            const covered = [...figure.getClientRects()].some(line =>
                line.bottom > top + 1 && line.top < bottom - 1 && line.right > left && line.left < right)
            const inside = left >= 0 && right <= document.body.clientWidth && top >= 0 && bottom <= innerHeight
            if (panels[0].hidden || covered || !inside) wrong.push(`${figure.outerHTML} ${[left, right, top, bottom]}`)
            document.body.dispatchEvent(new PointerEvent("pointerdown", {bubbles: true}))
        }
    }
    return wrong
}"""


@pytest.mark.parametrize("path", WITH_FIGURES)
def test_every_panel_is_in_the_window(visit: Callable[..., Any], path: str) -> None:
    """A panel would be cut off at an edge, or lie on the figure that it explains, or not open at all."""
    page = visit(path, viewport={"width": LARGE, "height": 800}).page
    for width in BUDGET["widths"]:
        look(page, "light", width)
        assert page.evaluate(IN_WINDOW) == [], width


# Without script, and on paper.


def test_without_script_the_lists_do_it(visit: Callable[..., Any]) -> None:
    """Who reads without script would not learn where a figure comes from; or would tab through dead buttons."""
    page = visit(LESSON, java_script_enabled=False).page
    assert page.locator("article [role=button], article data[tabindex]").count() == 0
    page.locator("details.ln-numbers > summary").click()
    said = page.locator(".ln-numbers dd").first
    expect(said).to_be_visible()
    expect(said).to_contain_text("computed by")
    expect(page.locator(".ln-sources q").first).to_be_visible()


def test_no_panel_on_paper(visit: Callable[..., Any]) -> None:
    """A page that is printed while a panel is open would have a hole in its text."""
    page = visit(LESSON).page
    at(page, "sentence").hover()
    expect(page.locator(OPEN)).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator(".ln-panel")).to_be_hidden()
