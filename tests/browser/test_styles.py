"""The theme's style sheets were made lighter; no page may look different for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import material
import pytest

THEME = Path(material.__file__).parent / "templates"

LOOKS = """() => {
    const named = (element) => element ? `${element.localName}.${element.getAttribute("class") ?? ""}` : "";
    const each = new Map();  // of those that have the same names around them, the first
    for (const element of document.querySelectorAll("body, body *")) {
        const key = [element, element.parentElement, element.parentElement?.parentElement].map(named).join(" < ");
        if (!each.has(key)) each.set(key, element);
    }
    return [...each].map(([key, element]) => {
        const said = [key];
        for (const part of [null, "::before", "::after"]) {
            const style = getComputedStyle(element, part);
            if (part && style.content === "none") continue;
            // Icons are data with signs that a style sheet may write in several ways.
            for (const name of style)
                if (!/^--|mask-image/.test(name)) said.push(`${name}: ${style.getPropertyValue(name)}`);
        }
        return said.join("; ");
    });
}"""

ALL_SHOWN = """() => {
    document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
    document.querySelectorAll("article *").forEach((block) => {
        if (getComputedStyle(block).contentVisibility === "auto") block.style.contentVisibility = "visible";
    });
}"""


@pytest.mark.parametrize("path", ["", "lessons/conversation/", "reference/api/conversation/", "contributing/"])
def test_no_page_looks_different(visit: Callable[..., Any], path: str) -> None:
    """A rule that a page needs would be missing."""
    served = []

    def as_the_theme_has_it(route: Any) -> None:
        name = "assets/" + route.request.url.partition("/assets/")[2]
        served.append(name)
        route.fulfill(body=(THEME / name).read_bytes(), content_type="text/css")

    for palette, width in (("light", 1280), ("dark", 375)):
        looks = []
        page = visit(path, color_scheme=palette, viewport={"width": width, "height": 900}, reduced_motion="reduce").page
        for _ in range(2):
            page.evaluate(ALL_SHOWN)
            page.evaluate("document.querySelector('#__search').click()")
            looks.append(page.evaluate(LOOKS))
            page.route("**/assets/stylesheets/*.css", as_the_theme_has_it)
            page.reload()
            page.wait_for_load_state("networkidle")
        assert len(served) >= 2
        assert len(looks[0]) == len(looks[1]) > 50
        assert [pair for pair in zip(*looks, strict=True) if pair[0] != pair[1]][:1] == []
        served.clear()
