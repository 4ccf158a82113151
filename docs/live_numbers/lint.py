"""The typed-number check: no number in the rendered text but those that were computed, cited or let out.

It reads the article of a finished page, not its Markdown, and starts from the characters: whatever Unicode calls a
digit or a number is in, and so is a number word before one of the lessons' units. What may stand is let out by name:
a figure that the machinery put there, code, executed output, a quote from a source, an entry of the allow-list.
"""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lxml import html

from live_numbers.faults import Fault
from live_numbers.forms import NUMBER_WORDS
from live_numbers.project import Project

HOLE = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands in a checked text for what was let out."""

INLINE = frozenset(
    [
        "a",
        "abbr",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "code",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "ins",
        "kbd",
        "label",
        "mark",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "var",
        "wbr",
        "tspan",
    ]
)
SILENT = frozenset(["script", "style", "template", "noscript"])
SPOKEN = (
    "alt",
    "title",
    "aria-label",
    "aria-description",
    "placeholder",
    "label",
    "summary",
    "start",
    "value",
)
CONNECTING = [
    "of",
    "the",
    "a",
    "an",
    "and",
    "or",
    "per",
    "at",
    "by",
    "in",
    "to",
    "is",
    "was",
    "than",
    "for",
    "with",
]
CANDIDATE = re.compile(r"[0-9]|[^\x00-\x7f]")
GAP = r"[\s\-\u2010-\u2015]+"


@dataclass(frozen=True)
class Allowed:
    """A text that may stand typed, and why."""

    text: str
    reason: str
    line: int

    @property
    def pattern(self) -> re.Pattern[str]:
        """The text, not as a part of a longer word or number."""
        return re.compile(rf"(?<![\w]){re.escape(self.text)}(?!\w|[.,]\d)")


@dataclass
class AllowList:
    """`docs/typed_numbers.toml`: what may stand typed, and the units before which a number word is a figure."""

    entries: list[Allowed] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._patterns = [(entry.text, entry.pattern) for entry in self.entries]
        self._words = _word_pattern(self.units) if self.units else None

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
        if self._words is not None:
            for found in self._words.finditer(text):
                yield found.start(), found[0]


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


def _word_pattern(units: list[str]) -> re.Pattern[str]:
    """Number words before a unit, with a hyphen or one more word between."""
    words = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
    plurals = "|".join(
        re.escape(unit[:-1]) + "(?:y|ies)" if unit.endswith("y") else re.escape(unit) + "(?:s|es)?" for unit in units
    )
    between = rf"(?:(?!(?:{'|'.join(CONNECTING)})\b)[^\W\d_]+{GAP})?"
    return re.compile(rf"\b(?:{words})(?:{GAP}(?:and{GAP})?(?:{words}))*{GAP}{between}(?:{plurals})\b", re.I)


def read_allow_list(project: Project) -> tuple[AllowList, list[Fault]]:
    """The allow-list of a project, and what is wrong with it."""
    path, file = project.typed_numbers, project.name(project.typed_numbers)
    if not path.exists():
        return AllowList(), []
    try:
        content = path.read_text(encoding="utf-8")
        table = tomllib.loads(content)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        return AllowList(), [Fault(file, 0, "unreadable allow-list", str(error), "mend the TOML of this file")]
    faults = []
    entries: dict[str, Allowed] = {}
    for entry in table.get("allow", []):
        text = str(entry.get("text", ""))
        line = _line_of(content, text)
        if set(entry) != {"text", "reason"} or not text.strip() or not str(entry["reason"]).strip():
            faults.append(
                Fault(
                    file,
                    line,
                    "faulty allow-list",
                    f"the entry {text!r} needs a text and a reason, and nothing else",
                )
            )
        elif text in entries:
            faults.append(Fault(file, line, "faulty allow-list", f"the entry {text!r} stands twice", "delete one"))
        else:
            entries[text] = Allowed(text, entry["reason"], line)
    unknown = sorted(set(table) - {"allow", "units"})
    if unknown:
        faults.append(Fault(file, 0, "faulty allow-list", f"unknown keys: {', '.join(unknown)}", "use units and allow"))
    return AllowList(list(entries.values()), [str(unit) for unit in table.get("units", [])]), faults


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


@dataclass
class Shown:
    """What the machinery put on a page, and what a page may therefore show.

    Attributes:
        figures: (attribute that names it, its name, as written) of every figure.
        blocks: source and output of every executed block, by id.
        codes: the code shown by name, by that name.
        pictures: the texts of every picture, by id.
        quotes: every text of a source that the page repeats.
    """

    figures: set[tuple[str, str, str]] = field(default_factory=set)
    blocks: dict[str, tuple[str, str]] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    pictures: dict[str, list[str]] = field(default_factory=dict)
    quotes: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Finding:
    """Something on a rendered page that may not stand there."""

    kind: str
    text: str
    heading: str
    sentence: str


FIGURE_ATTRIBUTES = ("data-expr", "data-cited", "data-given")


class _Reader:
    """Reads one article into runs of text, and checks what claims to be let out."""

    def __init__(self, shown: Shown, allow: AllowList) -> None:
        self.shown = shown
        self.names = {name for _, name, _ in shown.figures}
        self.allow = allow
        self.heading = ""
        self.checked: list[str] = []
        self.let_out: list[str] = []
        self.findings: list[Finding] = []

    def read(self, element: Any) -> None:
        """Take in an element and everything in it, but not the text after it."""
        tag = element.tag
        if not isinstance(tag, str) or tag in SILENT:
            return
        block = tag not in INLINE
        if block:
            self.flush()
        self.attributes(element)
        if self.exempt(element):
            self.checked.append(HOLE)
            self.let_out.append(" ".join(element.text_content().split()))
        else:
            self.checked.append(element.text or "")
            for child in element:
                self.read(child)
                self.checked.append(child.tail or "")
        if block:
            self.flush(heading=tag in ("h1", "h2", "h3", "h4", "h5", "h6"))

    def attributes(self, element: Any) -> None:
        """Check what is said in attributes, alternative texts above all."""
        for name, text in element.attrib.items():
            if name not in SPOKEN or not text or (name == "value" and element.tag == "data"):
                continue
            for expression, written in json.loads(element.get("data-figures", "[]")):
                if any((kind, expression, written) in self.shown.figures for kind in FIGURE_ATTRIBUTES):
                    text = text.replace(written, HOLE, 1)
            self.numbers(text, [])

    def exempt(self, element: Any) -> bool:
        """Whether the element is let out; an element that only claims to be is a finding."""
        tag = element.tag
        if "ln-fault" in element.get("class", ""):
            return True  # what went wrong there is a fault already
        if tag == "data":
            claims = [
                (name, element.get(name), element.text_content()) for name in FIGURE_ATTRIBUTES if element.get(name)
            ]
            return self.claim(any(claim in self.shown.figures for claim in claims), "forged figure", element)
        if tag == "code" and element.get("data-of"):
            return self.claim(element.text_content() == element.get("data-of") in self.names, "forged code", element)
        if tag == "code" and element.getparent().tag != "pre":
            text = element.text_content().strip()
            if re.match(r"[-+\u2212]?\d", text):
                self.numbers(text, [])
            return True
        if tag == "pre":
            self.found("unexplained code block", element.text_content().strip().split("\n")[0])
            return True
        if element.get("data-block"):
            known = self.shown.blocks.get(element.get("data-block"))
            texts = tuple(pre.text_content().strip() for pre in element.iter("pre"))
            return self.claim(
                known is not None and texts == tuple(text.strip() for text in known if text.strip()),
                "forged example",
                element,
            )
        if element.get("data-code"):
            known_code = self.shown.codes.get(element.get("data-code"), "")
            texts = tuple(pre.text_content().strip() for pre in element.iter("pre"))
            return self.claim(texts == (known_code.strip(),), "forged code", element)
        if element.get("data-reason"):
            return True
        if element.get("data-picture"):
            said = [*element.xpath("./*[name() = 'svg']/*[name() = 'title']"), *element.iter("text")]
            texts = tuple(_visible(text) for text in said)
            known_texts = tuple(self.shown.pictures.get(element.get("data-picture"), ()))
            return self.claim(texts == known_texts, "forged picture", element)
        if element.get("data-quote"):
            return self.claim(element.text_content() in self.shown.quotes, "forged quote", element)
        return False

    def claim(self, holds: bool, kind: str, element: Any) -> bool:
        """Record an element whose content is not what the machinery put there."""
        if not holds:
            self.found(kind, " ".join(element.text_content().split())[:80])
        return True

    def found(self, kind: str, text: str, sentence: str = "") -> None:
        """Record a finding under the present heading."""
        self.findings.append(Finding(kind, text, self.heading, sentence or text))

    def numbers(self, text: str, holes: list[str]) -> None:
        """Record the typed numbers of a text, each with its sentence, in which what was let out stands again."""
        for at, number in self.allow.typed(text):
            start, end = _sentence(text, at)
            fillings = iter(holes[text[:start].count(HOLE) :])
            self.found(
                "typed number",
                number,
                "".join(next(fillings, c) if c == HOLE else c for c in text[start:end]),
            )

    def flush(self, heading: bool = False) -> None:
        """End a run of text: check it, and remember it where it is a heading."""
        text, holes = _folded("".join(self.checked)), self.let_out
        self.checked, self.let_out = [], []
        if heading and text:
            fillings = iter(holes)
            readable = "".join(next(fillings, c) if c == HOLE else c for c in text)
            self.heading = readable.rstrip("\N{PILCROW SIGN} ")
        self.numbers(text, holes)


def _visible(element: Any) -> str:
    return " ".join(element.text_content().split())


def _folded(text: str) -> str:
    """The text without characters that are not seen, white space folded."""
    if not text.isascii():
        text = "".join(character for character in text if unicodedata.category(character) != "Cf")
    return " ".join(text.split())


def _sentence(text: str, at: int) -> tuple[int, int]:
    """Where the sentence that holds a position starts and ends."""
    starts = [found.end() for found in re.finditer(r"[.!?:]\s", text[:at])]
    end = re.search(r"[.!?](?=\s|\Z)", text[at:])
    return starts[-1] if starts else 0, at + end.end() if end else len(text)


def check_page(page: str | bytes, shown: Shown, allow: AllowList) -> list[Finding]:
    """What may not stand on a rendered page.

    Args:
        page: the whole HTML document.
        shown: what the machinery put on it.
        allow: the allow-list; the entries that let something out are marked as used.
    """
    tree = html.document_fromstring(page)
    reader = _Reader(shown, allow)
    articles = tree.xpath("//article") or tree.xpath("//*[@role='main']") or tree.xpath("//body")
    headings = [_folded(h1.text_content()).rstrip("\N{PILCROW SIGN} ") for h1 in tree.xpath("//h1")]
    for article in articles:
        reader.read(article)
    reader.flush()
    reader.heading = ""
    for title in tree.xpath("//head/title/text()"):
        text = _folded(title)
        for heading in headings:
            text = text.replace(heading, HOLE, 1)
        reader.numbers(text, headings)
    for description in tree.xpath("//head/meta[@name='description']/@content"):
        reader.numbers(_folded(description), [])
    return reader.findings


def locate(source: str, finding: Finding) -> int:
    """The line of a page's Markdown where a finding most likely stands; 0 where nothing is like it.

    It is the line that shares most words with the sentence, among those that hold the number as it is, if any do.
    """
    words = set(re.findall(r"\w+", finding.sentence))
    needle = next(iter(finding.text.split()), finding.text)
    ranked = [
        (needle in text, len(words & set(re.findall(r"\w+", text))), -number)
        for number, text in enumerate(source.splitlines(), start=1)
    ]
    holds, common, number = max(ranked, default=(False, 0, 0))
    return -number if holds or common else 0
