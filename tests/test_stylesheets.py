"""The theme's style sheets lose the rules for what no page has, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from live_numbers import stylesheets

PAGE = """<html class="no-js"><body data-md-color-scheme="slate" class='a b:c'>
<input data-md-color-scheme="default" data-md-color-primary="custom"><p class="kept
other">"""
SCRIPT = 'element.classList.toggle("by-script")'


@pytest.mark.parametrize(
    ("expected", "sheet"),
    [
        (".a{color:red}", ".a{color:red}"),
        ("", ".none{color:red}"),
        (".a{color:red}", ".none,.a , p.none{color:red}"),
        (".a .other>p{x:y}", ".a .other>p{x:y}"),
        ("", ".a .none>p{x:y}"),
        (".by-script{x:y}", ".by-script{x:y}"),  # a script may put it there
        (r".b\:c{x:y}", r".b\:c{x:y}"),
        ("", r".b\:d{x:y}"),
        (".a:not(.none){x:y}", ".a:not(.none){x:y}"),
        (".a:is(.none,.b:not(.c)){x:y}", ".a:is(.none,.b:not(.c)){x:y}"),
        ('[href$=".none"]{x:y}', '[href$=".none"]{x:y}'),
        ("[data-md-color-scheme=slate]{x:y}", "[data-md-color-scheme=slate]{x:y}"),
        ("", "[data-md-color-primary=teal]{x:y}"),
        ('[data-md-color-primary="custom"]{x:y}', '[data-md-color-primary="custom"]{x:y}'),
        ("@media print{.a{x:y}}", "@media print{.none{x:y}.a{x:y}}"),
        ("", "@media print{.none{x:y}}"),
        ("@supports (x:y){@media print{p{x:y}}}", "@supports (x:y){@media print{p{x:y}.none{x:y}}}"),
        ("@keyframes none{0%{x:y}}", "@keyframes none{0%{x:y}}"),
        (
            ':root{--icon:url("data:image/svg+xml;utf8,<svg/>{}")}',
            ':root{--icon:url("data:image/svg+xml;utf8,<svg/>{}")}',
        ),
        ("", "/* .a{} */"),
    ],
)
def test_what_stays_of_a_style_sheet(tmp_path: Path, expected: str, sheet: str) -> None:
    """A page would look different, or carry what it does not need."""
    (tmp_path / "assets" / "stylesheets").mkdir(parents=True)
    (tmp_path / "assets" / "stylesheets" / "main.css").write_text(sheet, encoding="utf-8")
    (tmp_path / "assets" / "page.js").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "index.html").write_text(PAGE, encoding="utf-8")
    stylesheets.lighten(tmp_path)
    assert expected == (tmp_path / "assets" / "stylesheets" / "main.css").read_text(encoding="utf-8")
