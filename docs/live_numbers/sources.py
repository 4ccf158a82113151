"""Cited figures: where each comes from, and the words it stands in."""

from __future__ import annotations

import json
import math
import re
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from live_numbers.faults import Fault
from live_numbers.project import Project

MULTIPLES = {"": Fraction(1), "k": Fraction(10**3), "K": Fraction(10**3), "M": Fraction(10**6), "B": Fraction(10**9)}
MULTIPLES["%"] = Fraction(1, 100)
WRITTEN = re.compile(r"((?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?) ?([kKMB%]?)\Z")
BEFORE = r"(?<![0-9.,])(?<!\s[-\u2212])(?<!^[-\u2212])"
BEHIND = r"(?![0-9A-Za-z%‰]|[.,][0-9]|\s?(?:[%‰]|(?:[kKMBT]|hundred|thousand|million|billion|percent|per cent)\b))"
"""A figure in its quote: not a part of a longer number, and without a sign, a multiplier or a unit that changes it."""
LONGEST_QUOTE = 300
SHAPE = (
    "a source has title, author, address and read; each of its figures has value, written and quote; "
    "docs/contributing.md shows one"
)


@dataclass(frozen=True)
class CitedFigure:
    """A figure as a source states it: its value, how the source writes it, and the words around it."""

    key: str
    value: int | float
    written: str
    quote: str


@dataclass(frozen=True)
class Source:
    """Who said it, where, and when it was read.

    Attributes:
        key: its name in `docs/sources.toml`.
        title: of the document.
        author: of the document.
        address: where it can be read.
        read: a version, or the date it was read.
        note: what a reader should know of it, such as that a model was retired.
        snapshot: a file of the project that is a copy of it, for `live-numbers sources --fetch`.
        figures: the figures taken from it.
    """

    key: str
    title: str
    author: str
    address: str
    read: str
    note: str
    snapshot: str
    figures: dict[str, CitedFigure]


def read(project: Project) -> tuple[dict[str, Source], list[Fault]]:
    """All sources by key, and what is wrong with them; a figure with a fault is left out."""
    path, file = project.sources, project.name(project.sources)
    if not path.exists():
        return {}, []
    try:
        content = path.read_text(encoding="utf-8")
        table = tomllib.loads(content)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        return {}, [Fault(file, 0, "unreadable sources", str(error), "mend the TOML of this file")]
    found: dict[str, Source] = {}
    faults: list[Fault] = []

    def fault(key: str, what: str) -> None:
        faults.append(Fault(file, _line_of(content, key), "faulty source", f"[{key}] {what}", SHAPE))

    for key, entry in table.items():
        what = _source_fault(entry)
        if what:
            fault(key, what)
            continue
        figures = {}
        for name, figure in entry.get("figures", {}).items():
            what = _figure_fault(figure)
            if what:
                fault(f"{key}.figures.{name}", what)
            else:
                figures[name] = CitedFigure(f"{key}.{name}", figure["value"], figure["written"], figure["quote"])
        texts = {field: entry.get(field, "") for field in ("title", "author", "address", "read", "note", "snapshot")}
        found[key] = Source(key, figures=figures, **texts)
    return found, faults


def _source_fault(entry: Any) -> str:
    """What is wrong with an entry of the file, or nothing."""
    if not isinstance(entry, dict):
        return "is no table"
    for field in ("title", "author", "address", "read"):
        if not isinstance(entry.get(field), str) or not entry[field].strip():
            return f"has no {field}"
    for field in ("note", "snapshot"):
        if not isinstance(entry.get(field, ""), str):
            return f"has a {field} that is no text"
    if not re.match(r"https?://[^\s/]", entry["address"]):
        return f"has the address {entry['address']!r}, which is none of the web"
    if not isinstance(entry.get("figures", {}), dict):
        return "has figures that are no tables"
    unknown = set(entry) - {"title", "author", "address", "read", "note", "snapshot", "figures"}
    if unknown:
        return f"has unknown fields: {', '.join(sorted(unknown))}"
    return ""


def _figure_fault(figure: Any) -> str:
    """What is wrong with a figure of a source, or nothing."""
    if not isinstance(figure, dict) or set(figure) != {"value", "written", "quote"}:
        return "needs exactly the fields value, written and quote"
    value, written, quote = figure["value"], figure["written"], figure["quote"]
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return f"value is {value!r}, not a number"
    if not isinstance(written, str) or not isinstance(quote, str):
        return "written and quote must be text"
    if len(quote) > LONGEST_QUOTE:
        return f"the quote has {len(quote)} characters; keep it under {LONGEST_QUOTE}"
    if not re.search(rf"{BEFORE}{re.escape(written)}{BEHIND}", quote):
        return f"the figure {written!r} does not stand in the quote {quote!r}"
    parsed = WRITTEN.match(written)
    if parsed is None:
        return f"written is {written!r}, which cannot be read as a number"
    stated = Fraction(parsed[1].replace(",", "")) * MULTIPLES[parsed[2]]
    if stated != Fraction(str(value)):
        return f"value is {value!r}, but {written!r} says {float(stated):g}"
    return ""


def _line_of(content: str, key: str) -> int:
    """The line of a table's heading; its parent's where it has none of its own."""
    while key:
        for number, line in enumerate(content.splitlines(), start=1):
            if line.strip().replace('"', "") == f"[{key}]":
                return number
        key = key.rpartition(".")[0]
    return 0


def find(sources: dict[str, Source], key: str) -> tuple[Source, CitedFigure]:
    """The figure named `source.figure`; a ValueError that lists what there is."""
    name, _, figure = key.partition(".")
    if name not in sources:
        raise ValueError(f"unknown source {name!r}: docs/sources.toml has {', '.join(sources) or 'none'}")
    known = sources[name].figures
    if figure not in known:
        raise ValueError(f"the source {name!r} has no figure {figure!r}: it has {', '.join(known) or 'none'}")
    return sources[name], known[figure]


def differences(snapshot: Path, live: str) -> list[str]:
    """Where a live document differs from its snapshot: field by field for JSON, else line by line.

    Raises:
        ValueError: the live document is no JSON although the snapshot is.
    """
    kept = snapshot.read_text(encoding="utf-8")
    if snapshot.suffix != ".json":
        return [] if kept == live else [f"{snapshot.name} and the live document differ"]
    try:
        ours, theirs = json.loads(kept), json.loads(live)
    except json.JSONDecodeError as error:
        raise ValueError(f"the live document is not JSON: {error}") from error
    if not isinstance(theirs, dict):
        raise ValueError(f"the live document is a JSON {type(theirs).__name__}, not an object")
    return [
        f"{field}: snapshot {_said(ours, field)}, live {_said(theirs, field)}"
        for field in sorted(ours.keys() | theirs.keys())
        if _said(ours, field) != _said(theirs, field)  # as JSON: for Python, true equals 1
    ]


def _said(table: dict[str, Any], field: str) -> str:
    return json.dumps(table[field], sort_keys=True) if field in table else "has no such field"
