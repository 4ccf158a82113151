"""The site for machines: every page as Markdown beside it, and `llms.txt`, which lists them.

The Markdown is made from the finished page, so it holds the figures, the output and the code that a reader sees. A
picture becomes its alternative text and the table of its values; what is folded stands open; buttons and forms are
left out. That no number was lost or added on the way is checked for every page, and a fault of the build.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag
from markdownify import MarkdownConverter

from live_numbers.faults import Fault
from live_numbers.project import Project

BASE: Any = MarkdownConverter  # its type information leaves out most of its methods

LEFT_OUT = "button, dialog, fieldset, form, input, output, script, select, style, template, nav, a.headerlink, [hidden]"
"""What of a page is there to be used and not to be read."""

CODE = re.compile("<pre.*?</pre>", re.S)
COLOURS = re.compile(r"</?(?:span|a)\b[^>]*>")
"""What only colours code and gives its lines names: nine of ten elements, which would take most of the time."""


@dataclass(frozen=True)
class Entry:
    """A page as `llms.txt` lists it.

    Attributes:
        section: the part of the menu that it stands in; empty for the first level.
        title: its name in the menu.
        description: what its front matter says of it.
        file: its rendered file, below the site.
    """

    section: str
    title: str
    description: str
    file: str


def markdown_file(file: str) -> str:
    """Where the Markdown of a rendered page stands: `lessons/memory/index.md` for `lessons/memory/index.html`."""
    return str(Path(file).with_suffix(".md").as_posix())


def write(
    project: Project, site: Path, files: Mapping[str, str], entries: Sequence[Entry], about: Entry
) -> list[Fault]:
    """Write the Markdown of every page and `llms.txt`, and give what is wrong with them.

    Args:
        project: where the pages lie.
        site: the folder with the rendered pages.
        files: the rendered file of each page, below `site`.
        entries: the pages of the menu, in its order.
        about: the site itself; its `file` is its address, or empty where that is not known.
    """
    faults = []
    known = frozenset(files.values())
    for uri, file in files.items():
        path = site / file
        if not path.exists():
            continue  # a fault of its own
        page = as_markdown(path.read_text(encoding="utf-8"), file, known)
        if page.lost:
            what = f"its Markdown has other numbers than the page: {page.lost}"
            fix = "write that part as text, a list, a table or a macro"
            faults.append(Fault(project.page(uri), 0, "faulty Markdown", what, fix))
        (site / markdown_file(file)).write_text(page.text, encoding="utf-8")
    (site / "llms.txt").write_text(listing(entries, about), encoding="utf-8")
    return faults


def listing(entries: Iterable[Entry], about: Entry) -> str:
    """The text of `llms.txt`: what the site is, and its pages with their descriptions, as the menu groups them."""
    sections: dict[str, list[str]] = {}
    for entry in entries:
        link = f"- [{entry.title}]({about.file}{markdown_file(entry.file)})"
        sections.setdefault(entry.section or "Pages", []).append(f"{link}: {entry.description}".removesuffix(": "))
    parts = [f"# {about.title}", f"> {about.description}"]
    parts += [f"## {section}\n\n" + "\n".join(links) for section, links in sections.items()]
    return "\n\n".join(parts) + "\n"


@dataclass(frozen=True)
class Page:
    """A page as Markdown, and in words what of its numbers differs from the page, or nothing."""

    text: str
    lost: str


@lru_cache(maxsize=512)
def as_markdown(document: str, file: str, known: frozenset[str]) -> Page:
    """The article of a page as Markdown.

    Args:
        document: the whole HTML document.
        file: where it stands in the site.
        known: all rendered files, so that a link to a page leads to its Markdown.
    """
    soup = BeautifulSoup(CODE.sub(lambda found: COLOURS.sub("", found[0]), document), "lxml")
    article = soup.find("article") or soup.body
    if not isinstance(article, Tag):
        return Page("", "")
    for element in article.select(LEFT_OUT):
        element.decompose()
    for picture in article.find_all("svg"):
        title = picture.find("title")
        picture.replace_with(_paragraph(soup, f"Picture: {title.get_text() if title else 'without a description'}"))
    for element in article.find_all(["details", "figure"]):
        element.name = "section"  # for which the converter knows that white space at its ends is nothing
    for link in article.find_all("a", href=True):
        if str(link["href"]).startswith("#"):
            link.unwrap()  # a place of this page: Markdown has no names for places
        else:
            link["href"] = _to_markdown(str(link["href"]), file, known)
    body = _Converter(heading_style="ATX", bullets="-", wrap=True, wrap_width=None).convert_soup(article)
    text = body.strip() + "\n"
    return Page(text, difference(article.get_text("\n"), text))


def _paragraph(soup: BeautifulSoup, text: str) -> Tag:
    """A paragraph of its own for a text in italics."""
    paragraph, words = soup.new_tag("p"), soup.new_tag("em")
    words.string = text
    paragraph.append(words)
    return paragraph


def _to_markdown(address: str, file: str, known: frozenset[str]) -> str:
    """The address of the Markdown of a page of the site, whatever place in it is meant; others as they are."""
    if re.match(r"[a-z][a-z0-9+.-]*:|//", address):
        return address
    path = address.partition("#")[0]
    target = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
    page = target if target in known else posixpath.normpath(posixpath.join(target, "index.html"))
    if page not in known:
        return address
    return posixpath.relpath(markdown_file(page), posixpath.dirname(file) or ".")


class _Converter(BASE):  # type: ignore[misc]
    """From HTML to Markdown, with what this site's pages are made of."""

    def convert_pre(self, element: Tag, text: str, parent_tags: set[str]) -> str:
        """A code block between fences, with its language and the file that it comes from."""
        code = element.get_text().strip("\n")
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", code))])
        return f"\n\n{_output_label(element)}{fence}{_language(element)}\n{code}\n{fence}\n\n"

    def convert_span(self, element: Tag, text: str, parent_tags: set[str]) -> str:
        """The name of a file over its code as a line of its own; any other span as its text."""
        return f"\n\n`{element.get_text()}`:\n\n" if "filename" in _classes(element) else text

    def convert_p(self, element: Tag, text: str, parent_tags: set[str]) -> str:
        """A paragraph; a number and a dot at its beginning would make it a list."""
        return str(super().convert_p(element, re.sub(r"^(\s*\d+)([.)]\s)", r"\1\\\2", text), parent_tags))

    def convert_li(self, element: Tag, text: str, parent_tags: set[str]) -> str:
        """An item of a list; behind one of several paragraphs stands an empty line, or the next would be its text."""
        item = str(super().convert_li(element, text, parent_tags))
        return f"{item}\n" if "\n\n" in item else item

    def convert_summary(self, element: Tag, text: str, parent_tags: set[str]) -> str:
        """What can be unfolded, as a heading without a level."""
        return f"\n\n**{text.strip()}**\n\n"

    def convert_td(self, element: Tag, text: str, parent_tags: set[str]) -> str:
        """A cell; a bar in it would end it."""
        return str(super().convert_td(element, text.replace("|", "\\|"), parent_tags))

    convert_th = convert_td

    def convert_q(self, element: Tag, text: str, parent_tags: set[str]) -> str:
        """Somebody else's words."""
        return f"\N{LEFT DOUBLE QUOTATION MARK}{text}\N{RIGHT DOUBLE QUOTATION MARK}"


def _language(element: Tag) -> str:
    """The language of a code block: Python where the machinery showed it, else what its classes say."""
    if element.find_parent(attrs={"data-code": True}):
        return "python"
    if block := element.find_parent(attrs={"data-block": True}):
        return "python" if block.find("pre") is element else "text"
    around = element.find_parent(class_=re.compile(r"^language-"))
    names = _classes(around) if around else []
    return next((name.removeprefix("language-") for name in names if name.startswith("language-")), "")


def _classes(element: Tag) -> list[str]:
    names = element.get("class")
    return names.split() if isinstance(names, str) else list(names or ())


def _output_label(element: Tag) -> str:
    """The words before the output of an example."""
    block = element.find_parent(attrs={"data-block": True})
    return "Output:\n\n" if block and block.find("pre") is not element else ""


def difference(seen: str, text: str) -> str:
    """In words, how the numbers of a Markdown differ from those that a reader sees; nothing if they are the same."""
    there, here = re.findall(r"\d+", seen), re.findall(r"\d+", "\n".join(_spoken(text)))
    for place, (wanted, found) in enumerate(zip(there, here, strict=False)):
        if wanted != found:
            return f"{found} for {wanted}, after {' '.join(there[max(place - 3, 0) : place]) or 'nothing'}"
    if len(there) != len(here):
        longer, said = (there, "missing") if len(there) > len(here) else (here, "added")
        return f"{' '.join(longer[min(len(there), len(here)) :][:3])} {said}"
    return ""


def _spoken(text: str) -> Iterable[str]:
    """The lines of a Markdown without what is not read: numbers of list items, targets of links, fences."""
    fence = ""
    for line in text.split("\n"):
        mark = re.match(r"[\s>:-]*(`{3,})(.*)", line)
        if fence:
            fence = "" if mark and mark[1] == fence else fence
            yield "" if not fence else line
        elif mark:
            fence = mark[1]
        else:
            yield re.sub(r"\]\([^)\s]*\)", "]", re.sub(r"^[\s>:-]*\d+\. ", "", line))
