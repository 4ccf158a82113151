"""What counts as a number in a text, and the allow-list of those that may stand typed.

It starts from the characters, not from shapes: whatever Unicode calls a digit or a number is in, and so is a number
word before one of the lessons' units. What may stand is let out by an entry with a reason.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from live_numbers.faults import Fault
from live_numbers.forms import GREAT_WORDS, NUMBER_WORDS
from live_numbers.project import Project

FIGURE = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands in a checked text for a figure that the machinery put there."""
HOLE = "\N{REPLACEMENT CHARACTER}"
"""Stands there for anything else that is let out: code, a quote, an entry of the allow-list."""

CANDIDATE = re.compile(r"[0-9]|[^\x00-\x7f]")
GAP = r"[\s\-\u2010-\u2015\u2212/\"'“”„‘’]+"
GREAT = "|".join(f"{word}s?" for word in GREAT_WORDS)
BEHIND = rf"{GREAT}|percent|per cent|k|M|bn|[kKMGT]i?B|(?:kilo|mega|giga|tera|kibi|mebi|gibi|tebi)bytes?|and a half"
ATTACHED = re.compile(
    rf"(?<![^\s(])[-+\u2013\u2212\ufe63\uff0d]{FIGURE}"  # a sign before a figure
    rf"|{FIGURE}[.,'’·]?{FIGURE}"  # two figures that read as one
    rf"|{FIGURE}[\s-]*(?:[%‰‱]|(?:{BEHIND})\b)|{FIGURE}[^\W_]"  # a multiplier, a unit or a digit behind a figure
)
WORDS = "|".join(sorted((f"{word}s?" for word in NUMBER_WORDS if word != "one"), key=len, reverse=True))
ALONE = re.compile(rf"\W*(?:{WORDS}|one)(?:{GAP}(?:{WORDS}|one))*\W*", re.I)
CONNECTING = "of|the|a|an|and|or|per|at|by|in|to|is|was|are|were|than|for|with|it|its|as|on|from|that"


@dataclass(frozen=True)
class Allowed:
    """A text that may stand typed, and why."""

    text: str
    reason: str
    line: int

    @property
    def pattern(self) -> re.Pattern[str]:
        """The text, not as a part of a longer word or number."""
        whole = r"(?<!\w)(?:(?!\d)|(?<!\d[.,])(?<!\W\.)(?<!^\.))"  # neither the 5 of 3.5 nor that of .5
        return re.compile(rf"{whole}{re.escape(self.text)}(?!\w|[.,]\d)")


@dataclass
class AllowList:
    """`docs/typed_numbers.toml`: what may stand typed, and the units before which a number word is a figure."""

    entries: list[Allowed] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._patterns = [(entry.text, entry.pattern) for entry in self.entries]
        self._before_units = _before(self.units) if self.units else None

    def without_allowed(self, text: str) -> str:
        """The text with every allowed part blanked out, each entry marked as used."""
        for name, pattern in self._patterns:
            if name in text:
                text, count = pattern.subn(lambda found: HOLE * len(found[0]), text)
                if count:
                    self.used.add(name)
        return text

    def typed(self, text: str) -> Iterator[tuple[int, str]]:
        """Every typed number of a text: where it starts, and its characters."""
        text = self.without_allowed(text)
        end = -1
        for found in CANDIDATE.finditer(text):
            if found.start() >= end and is_number(found[0]):
                start = end = found.start()
                while end < len(text) and (is_number(text[end]) or _joins(text, end)):
                    end += 1
                yield start, text[start:end]
        if FIGURE in text:
            for found in ATTACHED.finditer(text):
                yield found.start(), found[0]
        if self._before_units is not None:
            for found in self._before_units.finditer(text):
                yield found.start(), found[0]
        if len(text) < 60 and (alone := ALONE.fullmatch(text)):
            yield 0, alone[0]


def is_number(character: str) -> bool:
    """Whether Unicode calls the character a digit or a number, or writes it out with one."""
    if character.isascii():
        return character.isdigit()
    return any(
        part.isnumeric() or unicodedata.category(part).startswith("N")
        for part in (character, *unicodedata.normalize("NFKC", character))
    )


def _joins(text: str, at: int) -> bool:
    """Whether a separator stands between two digits."""
    return text[at] in ".,\u00a0\u202f '" and at + 1 < len(text) and is_number(text[at + 1])


def _before(units: list[str]) -> re.Pattern[str]:
    """Number words before a unit, with up to two other words between; `one` only right before it."""
    plurals = "|".join(
        re.escape(unit[:-1]) + "(?:y|ies)" if unit.endswith("y") else re.escape(unit) + "(?:s|es)?" for unit in units
    )
    other = rf"(?:(?!(?:{CONNECTING})\b)[^\W\d_]+{GAP})"
    numeral = rf"(?:{WORDS})(?:{GAP}(?:and{GAP})?(?:{WORDS}|one))*{GAP}"
    many = rf"{numeral}(?:of{GAP}(?:(?:the|its|these|those){GAP})?)?{other}{{0,2}}?"
    return re.compile(rf"\b(?:{many}|one{GAP})(?:{plurals})\b", re.I)


def read_allow_list(project: Project) -> tuple[AllowList, list[Fault]]:
    """The allow-list of a project, and what is wrong with it."""
    path, file = project.typed_numbers, project.name(project.typed_numbers)
    if not path.exists():
        return AllowList(), []
    try:
        content = path.read_text(encoding="utf-8")
        table = tomllib.loads(content)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        return AllowList(), [Fault(file, 0, "unreadable allow-list", str(error), "mend the TOML of this file")]
    faults: list[Fault] = []

    def fault(what: str, fix: str, line: int = 0) -> None:
        faults.append(Fault(file, line, "faulty allow-list", what, fix))

    units, allow = table.get("units"), table.get("allow", [])
    if not isinstance(units, list) or not units or not all(isinstance(u, str) and u.strip() for u in units):
        fault("units must be a list of words", 'write units = ["message", "token"]')
        units = []
    if not isinstance(allow, list) or not all(isinstance(entry, dict) for entry in allow):
        fault("allow must be a list of tables", "write [[allow]] above each entry, in double brackets")
        allow = []
    if unknown := sorted(set(table) - {"allow", "units"}):
        fault(f"unknown keys: {', '.join(unknown)}", "there are only units and [[allow]]")
    entries: dict[str, Allowed] = {}
    for entry in allow:
        text, reason = entry.get("text"), entry.get("reason")
        line = _line_of(content, str(text))
        if set(entry) != {"text", "reason"} or not _said(text) or not _said(reason):
            fault(f"the entry {text!r} needs a text and a reason, and nothing else", "say why it may stand", line)
        elif text in entries:
            fault(f"the entry {text!r} stands twice", "delete one", line)
        else:
            entries[text] = Allowed(text, reason, line)
    return AllowList(list(entries.values()), units), faults


def _said(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _line_of(content: str, text: str) -> int:
    for number, line in enumerate(content.splitlines(), start=1):
        if line.startswith("text") and text in line:
            return number
    return 0


def unused(project: Project, allow: AllowList) -> list[Fault]:
    """A fault for every entry that let nothing out."""
    return [
        Fault(
            project.name(project.typed_numbers),
            entry.line,
            "unused allow-list entry",
            f"{entry.text!r} stands on no page",
            "delete the entry, or correct its text",
        )
        for entry in allow.entries
        if entry.text not in allow.used
    ]
