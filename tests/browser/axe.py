"""Axe-core in a page: what it finds, in words."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.browser.conftest import ROOT, missing

COLOURS = ["color-contrast", "link-in-text-block"]
"""The rules that look at colours; no others depend on the palette."""
ONLY_COLOURS: dict[str, Any] = {"runOnly": COLOURS}
NO_COLOURS: dict[str, Any] = {"rules": {rule: {"enabled": False} for rule in COLOURS}}

RUN = """async ([options, parts, alike]) => {
    const one = alike ? [...document.querySelectorAll("[data-axe]")] : null;
    const where = parts ? {include: parts} : one ? {include: one} : document;
    const found = await axe.run(where, {resultTypes: ["violations"], ...options});
    return found.violations.flatMap(({id, help, nodes}) =>
        nodes.map(({html, any, all, none}) =>
            `${id}: ${help}: ${html.slice(0, 200)}: ${[...any, ...all, ...none].map((check) => check.message)}`));
}"""

ONE_OF_EACH = """() => {
    const numbers = new Map(), looks = new Map();
    const look = (element) => {  // of itself and of all that it lies in, as a number
        if (!element) return 0;
        if (!looks.has(element)) {
            const style = getComputedStyle(element);
            const own = [look(element.parentElement), style.color, style.fontSize, style.fontWeight, style.textShadow,
                style.backgroundColor, style.backgroundImage, style.opacity, style.filter, style.mixBlendMode,
                style.display, style.position, style.textDecorationLine, element.localName === "a"].join();
            if (!numbers.has(own)) numbers.set(own, numbers.size + 1);
            looks.set(element, numbers.get(own));
        }
        return looks.get(element);
    };
    const taken = new Set();
    for (const element of document.querySelectorAll("body *")) {
        element.removeAttribute("data-axe");
        const texts = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
        const box = element.getBoundingClientRect();
        if (!texts && !element.matches("a[href], input, select, textarea, button")) continue;
        const seen = box.width && box.height && element.checkVisibility({visibilityProperty: true});
        if (!seen || taken.has(look(element))) continue;
        taken.add(look(element));
        element.setAttribute("data-axe", "");
    }
    return taken.size;
}"""


@lru_cache(maxsize=1)
def script() -> str:
    """Axe-core, from `.ci/node_modules`, or from the file that the variable AXE names."""
    path = Path(os.environ.get("AXE", ROOT / ".ci" / "node_modules" / "axe-core" / "axe.min.js"))
    if not path.exists():
        missing("axe-core is not installed: npm ci --prefix .ci")
    return path.read_text(encoding="utf-8")


def faults(page: Any, *parts: str, **options: Any) -> list[str]:
    """What axe finds in a page, or in parts of it, by some or all of its rules."""
    return _run(page, options, list(parts) or None, alike=False)


def pale(page: Any) -> list[str]:
    """What axe finds in the colours of a page, where it looks at one text of each look.

    Those whose own style and whose surroundings are styled alike, up to the root, have the same contrast. A page has
    thousands of texts and some dozens of looks; for axe to look at all of them takes most of its time.
    """
    assert page.evaluate(ONE_OF_EACH) > 0
    return _run(page, ONLY_COLOURS, None, alike=True)


def _run(page: Any, options: dict[str, Any], parts: list[str] | None, alike: bool) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(script())
    return list(dict.fromkeys(page.evaluate(RUN, [options, parts, alike])))
