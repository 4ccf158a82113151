"""The theme's style sheets, without the rules for what the site does not have.

The theme has styles for tabs, annotations, versions, a dozen colours and more; a page would load all of them before
anything is drawn. A rule stays where every class that it names stands on some page or in some script, and every colour
that it names on some page. What cannot be told stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import tinycss2

CLASS = re.compile(r"\.((?:[\w-]|\\.)+)")
COLOUR = re.compile(r"""\[data-md-color-(?:primary|accent|scheme)=["']?([\w-]+)""")
GROUPS = ("media", "supports")


def lighten(site: Path) -> None:
    """Take from the theme's style sheets of a built site what is of no use to any of its pages.

    Args:
        site: the folder with the built site.
    """
    known = _names(site)
    for path in (site / "assets" / "stylesheets").glob("*.css"):
        rules = tinycss2.parse_stylesheet(path.read_text(encoding="utf-8"), skip_comments=True, skip_whitespace=True)
        path.write_text("".join(_kept(rules, known)), encoding="utf-8")


def _names(site: Path) -> set[str]:
    """Every name that an element of a page may have, there or by a script."""
    names: set[str] = set()
    for path in site.rglob("*.html"):
        for value in re.findall(r"""\s(?:class|data-md-color-\w+)=["']([^"']*)""", path.read_text(encoding="utf-8")):
            names |= set(value.split())
    for path in (site / "assets").glob("**/*.js"):
        if "lunr" not in path.parts:  # the search's stemmers, which know no elements
            names |= set(re.findall(r"[\w-]+", path.read_text(encoding="utf-8")))
    return names


def _kept(rules: Iterable[Any], known: set[str]) -> Iterator[str]:
    """The text of the rules that stay."""
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = [text for text in _parts(rule.prelude) if _may_match(text, known)]
            if selectors:
                yield f"{','.join(selectors)}{{{tinycss2.serialize(rule.content)}}}"
        elif rule.type == "at-rule" and rule.lower_at_keyword in GROUPS and rule.content:
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            text = "".join(_kept(inner, known))
            if text:
                yield f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{text}}}"
        else:
            yield rule.serialize()


def _parts(prelude: Iterable[Any]) -> list[str]:
    """The selectors of a rule, which commas divide; a comma within brackets divides none."""
    parts: list[list[Any]] = [[]]
    for token in prelude:
        if token == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return [tinycss2.serialize(part).strip() for part in parts]


def _may_match(selector: str, known: set[str]) -> bool:
    """Whether some element may be meant: what stands in brackets is not looked at, as `:not(.x)` wants no x."""
    plain = re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", selector))
    classes = [re.sub(r"\\(.)", r"\1", name) for name in CLASS.findall(re.sub(r"\[[^\]]*\]", "", plain))]
    return all(name in known for name in [*classes, *COLOUR.findall(plain)])
