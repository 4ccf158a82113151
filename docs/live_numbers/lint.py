"""The typed-number check: no number in the rendered text but those that were computed, cited or let out.

It reads the article of a finished page, not its Markdown. Let out is what the machinery put there and only if it
stands as the machinery put it: a figure, code, the output of an example, a quote; and code with a stated reason.
"""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lxml import etree, html

from live_numbers.typed import FIGURE, HOLE, AllowList

INLINE = frozenset(
    "a abbr b bdi bdo big br cite code data del dfn em font i img ins kbd label mark q s samp small span strike "  # noqa: SIM905 - a list of one word a line is harder to read
    "strong sub sup time tt u var wbr tspan".split()
)
RAW = frozenset("script style iframe object embed template noscript frame applet".split())  # noqa: SIM905 - as above
SPOKEN = frozenset(
    "alt title aria-label aria-description aria-valuetext aria-roledescription placeholder label summary start value "  # noqa: SIM905 - as above
    "content".split()
)
SPEAKING = etree.XPath(f".//*[{' or '.join(f'@{name}' for name in sorted(SPOKEN))}]")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
FIGURE_ATTRIBUTES = ("data-expr", "data-cited", "data-given")
MARKERS = ("[[=", "[[%", "[[#", "{{", "{%", "[^", ":::")


@dataclass
class Shown:
    """What the machinery put on a page, and what a page may therefore show.

    Attributes:
        figures: (attribute that names it, its name, exact value, as written) of every figure.
        blocks: source and output of every executed block, by id.
        codes: the code shown by name, by that name.
        pictures: the texts of every picture, by id.
        explorers: the HTML of every explorer, by name.
        lists: the texts of the lists of sources and of numbers at the page's end.
        faults: what was put in the place of something that failed.
        api: whether there is nothing on the page but the reference of a module, rendered from its docstrings.
        title: the page's title, if figures stand in it.
    """

    figures: set[tuple[str, str, str, str]] = field(default_factory=set)
    blocks: dict[str, tuple[str, str]] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    pictures: dict[str, list[str]] = field(default_factory=dict)
    explorers: dict[str, str] = field(default_factory=dict)
    lists: set[str] = field(default_factory=set)
    faults: set[str] = field(default_factory=set)
    api: bool = False
    title: str = ""


@dataclass(frozen=True)
class Finding:
    """Something on a rendered page that may not stand there."""

    kind: str
    text: str
    heading: str
    sentence: str


class _Reader:
    """Reads one article into runs of text, and checks what claims to be let out."""

    def __init__(self, shown: Shown, allow: AllowList) -> None:
        self.shown = shown
        self.written = {(name, written) for _, name, _, written in shown.figures}
        self.allow = allow
        self.heading = ""
        self.checked: list[str] = []
        self.let_out: list[Any] = []
        self.findings: list[Finding] = []

    def read(self, element: Any) -> None:
        """Take in an element and everything in it, but not the text after it."""
        tag = element.tag
        if not isinstance(tag, str):
            return
        if tag in RAW:
            self.found("raw element", f"<{tag}>")
            return
        block = tag not in INLINE
        if block:
            self.flush()
        if element.attrib:
            self.attributes(element)
        if hole := self.exempt(element):
            self.checked.append(hole)
            self.let_out.append(element)
            for inner in SPEAKING(element) if len(element) and not element.get("data-explorer") else ():
                self.attributes(inner)
        else:
            self.checked.append(" " if tag in ("br", "img") else element.text or "")
            for child in element:
                self.read(child)
                self.checked.append(child.tail or "")
        if block:
            self.flush(heading=tag in HEADINGS)

    def attributes(self, element: Any) -> None:
        """Check what is said in attributes, alternative texts above all."""
        for name, text in element.attrib.items():
            if name not in SPOKEN or not text or (name == "value" and element.tag == "data"):
                continue
            for expression, written in _figures_of(element):
                if (expression, written) in self.written:
                    text = text.replace(written, FIGURE, 1)
            if not (element.tag == "a" and "footnote-backref" in element.get("class", "").split()):
                self.numbers(text, [])
        if element.get("src", "").startswith("data:") or element.get("srcdoc"):
            self.found("raw element", f"<{element.tag}> with its content in an attribute")

    def exempt(self, element: Any) -> str:
        """What stands for an element that is let out, or nothing; one that only claims to be is a finding."""
        tag = element.tag
        if tag == "data":
            written = element.text_content()
            claims = [(name, element.get(name), element.get("value"), written) for name in FIGURE_ATTRIBUTES]
            return self.claim(any(claim in self.shown.figures for claim in claims), "forged figure", element, FIGURE)
        if tag == "code" and element.getparent().tag != "pre":
            return self.inline_code(element)
        if tag == "pre":
            return self.listing(element)
        if tag == "a" and (_is_footnote(element) or _is_address(element)):
            return HOLE
        classes = element.get("class", "").split()
        if "ln-fault" in classes and _visible(element) in self.shown.faults:
            return HOLE
        if self.shown.api and {"doc", "doc-module"} <= {*classes}:
            for raw in element.iter(*RAW):
                self.found("raw element", f"<{raw.tag}>")
            return HOLE
        if element.get("data-block"):
            parts = self.shown.blocks.get(element.get("data-block"), ())
            self.listings(element, [part for part in parts if part.strip()], "forged example")
        elif element.get("data-code"):
            self.listings(element, [self.shown.codes.get(element.get("data-code"), "")], "forged code")
        elif element.get("data-picture"):
            said = [*element.xpath("./*[name() = 'svg']/*[name() = 'title']"), *element.iter("text")]
            known = [" ".join(text.split()) for text in self.shown.pictures.get(element.get("data-picture"), [])]
            return self.claim([_visible(text) for text in said] == known, "forged picture", element, HOLE)
        elif element.get("data-explorer"):
            known_html = self.shown.explorers.get(element.get("data-explorer"), "")
            return self.claim(_same(element, known_html), "forged explorer", element, HOLE)
        elif "data-list" in element.attrib:
            return self.claim(_visible(element) in self.shown.lists, "forged list", element, HOLE)
        return ""

    def inline_code(self, element: Any) -> str:
        """Code within a sentence: it may not be a bare number."""
        text = element.text_content().strip()
        if re.match(r"[-+\u2212]?\d", text) or not _is_code(text):
            self.numbers(text, [])
        return HOLE

    def listing(self, element: Any) -> str:
        """A code block: executed, shown by name, or with a reason."""
        for around in (element, *element.iterchildren("code"), *element.iterancestors()):
            if any(around.get(name) for name in ("data-block", "data-code", "data-reason")):
                return HOLE
        self.found("unexplained code block", _visible(element)[:80])
        return HOLE

    def listings(self, element: Any, known: Sequence[str], kind: str) -> None:
        """Check that the code blocks of an element are those that the machinery put there, and no others."""
        texts = [pre.text_content().strip() for pre in element.iter("pre")]
        if texts != [text.strip() for text in known]:
            self.found(kind, _visible(element)[:80])

    def claim(self, holds: bool, kind: str, element: Any, hole: str) -> str:
        """Let out an element; record it where its content is not what the machinery put there."""
        if not holds:
            self.found(kind, _visible(element)[:80])
        return hole

    def found(self, kind: str, text: str, sentence: str = "") -> None:
        """Record a finding under the present heading."""
        self.findings.append(Finding(kind, text, self.heading, sentence or text))

    def numbers(self, text: str, holes: list[Any]) -> None:
        """Record the typed numbers of a text, each with its sentence, in which what was let out stands again."""
        for at, number in self.allow.typed(text):
            start, end = _sentence(text, at)
            before = sum(text.count(hole, 0, start) for hole in (FIGURE, HOLE))
            shown = _filled(number, holes[before + sum(text.count(hole, start, at) for hole in (FIGURE, HOLE)) :])
            self.found("typed number", shown, _filled(text[start:end], holes[before:]))

    def flush(self, heading: bool = False) -> None:
        """End a run of text: check it, and remember it where it is a heading."""
        text, holes = folded("".join(self.checked)), self.let_out
        self.checked, self.let_out = [], []
        if not text:
            return
        if heading:
            self.heading = _filled(text, holes).rstrip("\N{PILCROW SIGN} ")
        self.numbers(text, holes)
        for marker in MARKERS:
            if marker in text:
                self.found("unrendered macro", marker, text)


def _same(element: Any, known: str) -> bool:
    """Whether an element is, attributes and all, a piece of HTML."""
    return bool(known) and etree.tostring(element, with_tail=False) == etree.tostring(html.fragment_fromstring(known))


def _is_code(text: str) -> bool:
    """Whether a text within code marks could be code at all, and is not prose."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def _figures_of(element: Any) -> list[tuple[str, str]]:
    """The figures named beside an attribute; none where somebody wrote nonsense there."""
    try:
        return [(str(name), str(written)) for name, written in json.loads(element.get("data-figures", "[]"))]
    except (ValueError, TypeError):
        return []


def _is_footnote(element: Any) -> bool:
    """Whether a link is the number of a footnote, or the way back from it: the builder counts those."""
    classes, text = element.get("class", "").split(), element.text_content().strip()
    if not element.get("href", "").startswith("#fn"):
        return False
    return text == "\u21a9" if "footnote-backref" in classes else "footnote-ref" in classes and len(text) <= 2


def _is_address(element: Any) -> bool:
    """Whether a link shows the address that it leads to."""
    address = element.get("href", "")
    known = address.startswith(("http://", "https://", "mailto:"))
    return known and bool(element.text_content() == address.removeprefix("mailto:"))


def _visible(element: Any) -> str:
    return " ".join(element.text_content().split())


def visible_text(fragment: str) -> str:
    """What a reader sees of a piece of HTML, white space folded."""
    return _visible(html.fragment_fromstring(fragment, create_parent=True))


def _filled(text: str, holes: list[Any]) -> str:
    """The text with what was let out in its place again."""
    fillings = iter(holes)
    return "".join(_text_of(next(fillings, c)) if c in (FIGURE, HOLE) else c for c in text)


def _text_of(hole: Any) -> str:
    """What a reader sees where something was let out: of an element its text."""
    return hole if isinstance(hole, str) else _visible(hole)


def folded(text: str) -> str:
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
    # What surrounds the article in its box is read too, so that nothing gets out by closing the article early.
    for box in dict.fromkeys(article.getparent() if article.tag == "article" else article for article in articles):
        reader.read(box)
    reader.flush()
    reader.heading = ""
    known = [folded(h1.text_content()).rstrip("\N{PILCROW SIGN} ") for h1 in tree.xpath("//h1")]
    for title in tree.xpath("//head/title/text()"):
        text = folded(title)
        for heading in filter(None, [shown.title, *known]):
            text = text.replace(heading, HOLE, 1)
        reader.checked = [text]
        reader.flush()
    for description in tree.xpath("//head/meta[@name='description']/@content"):
        reader.checked = [description]
        reader.flush()
    return reader.findings


def locate(lines: list[str], finding: Finding) -> int:
    """The line of a page's Markdown where a finding most likely stands; 0 where nothing is like it.

    It is the line that shares most words with the sentence, among those that hold the number as it is, if any do.
    """
    words = set(re.findall(r"\w+", finding.sentence))
    needle = next(iter(finding.text.split()), finding.text)
    whole = re.compile(rf"(?<![0-9]){re.escape(needle)}(?![0-9])" if needle[:1].isdigit() else re.escape(needle))
    holding = [number for number, text in enumerate(lines, start=1) if whole.search(text)]
    ranked = [
        (len(words & set(re.findall(r"\w+", lines[number - 1]))), -number)
        for number in holding or range(1, len(lines) + 1)
    ]
    common, number = max(ranked, default=(0, 0))
    return -number if holding or common else 0
