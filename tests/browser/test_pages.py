"""Every page in a real browser, in both palettes and at both widths: what must hold on all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

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
