"""How a figure passes through Markdown: as one character that nothing in Markdown touches.

A macro puts its HTML aside and leaves a private-use character in the page; the Markdown extension of this module
(`live_numbers.tokens` in `markdown_extensions`) puts the HTML in its place when all else is done. So a figure
works in a sentence, a table, a heading, a link and, as plain text, in an alternative text.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from typing import Any

from markdown import Extension, Markdown
from markdown.postprocessors import Postprocessor

FIRST, LAST = 0xF0000, 0x10FFFD
TOKEN = re.compile(f"[{chr(FIRST)}-{chr(LAST)}]")
ALONE = re.compile(f"<p>([{chr(FIRST)}-{chr(LAST)}])</p>")
QUOTED = re.compile(f"""=(?:"[^"]*|'[^']*)[{chr(FIRST)}-{chr(LAST)}]""")
TABLE = re.compile(r"""(?<!__table">)<table>.*?</table>""", re.S)
TAG = re.compile(r"""<[a-zA-Z](?:[^<>"']|"[^"]*"|'[^']*')*>""")


@dataclass(frozen=True)
class Piece:
    """What a token stands for: HTML in text, plain text in an attribute or a title, and the figure's name."""

    html: str
    plain: str
    name: str = ""


class Tokens:
    """The pieces that the macros of this build put aside."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []

    def put(self, piece: Piece) -> str:
        """The character that stands for the piece."""
        code = FIRST + len(self.pieces)
        if code > LAST:
            raise OverflowError(f"more than {LAST - FIRST} figures in one build")
        self.pieces.append(piece)
        return chr(code)

    def piece(self, token: str) -> Piece:
        """The piece a character stands for; a stray private-use character stands for itself."""
        index = ord(token) - FIRST
        return self.pieces[index] if index < len(self.pieces) else Piece(token, token)

    def plain(self, text: str) -> str:
        """The text with every token as plain text."""
        return TOKEN.sub(lambda found: self.piece(found[0]).plain, text)

    def html(self, text: str) -> str:
        """The HTML with every token as HTML; inside a tag as plain text, with the figures named beside it."""
        text = ALONE.sub(lambda found: self._alone(found[1]), text)
        if QUOTED.search(text):
            text = TAG.sub(lambda found: self._in_tag(found[0]), text)
        return TOKEN.sub(lambda found: self.piece(found[0]).html, text)

    def _alone(self, token: str) -> str:
        """A paragraph that holds one token: a block-level piece stands without the paragraph."""
        piece = self.piece(token)
        return piece.html if piece.html.startswith(("<div", "<details", "<ul")) else f"<p>{token}</p>"

    def _in_tag(self, tag: str) -> str:
        found = [self.piece(token) for token in TOKEN.findall(tag) if ord(token) - FIRST < len(self.pieces)]
        if not found:
            return tag
        figures = html.escape(json.dumps([[piece.name, piece.plain] for piece in found], ensure_ascii=False))
        tag = TOKEN.sub(lambda token: html.escape(self.piece(token[0]).plain), tag)
        end = -2 if tag.endswith("/>") else -1
        return f'{tag[:end].rstrip()} data-figures="{figures}"{tag[end:]}'


tokens = Tokens()
"""The one table of the running build: Markdown extensions cannot be handed one."""


class _PutBack(Postprocessor):
    def run(self, text: str) -> str:
        """The page's HTML with every piece in its place; its table of contents likewise."""
        entries: list[dict[str, Any]] = list(getattr(self.md, "toc_tokens", []))
        while entries:
            entry = entries.pop()
            entry.update({key: tokens.plain(text) for key, text in entry.items() if isinstance(text, str)})
            entries += entry["children"]
        return TABLE.sub(_in_a_box, tokens.html(text))


def _in_a_box(table: re.Match[str]) -> str:
    """A table in the theme's boxes, which can be scrolled sideways, which its script would make later."""
    return f'<div class="md-typeset__scrollwrap"><div class="md-typeset__table">{table[0]}</div></div>'


class TokenExtension(Extension):
    """Registers the last step of the conversion."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - the name is Markdown's
        """Add the postprocessor behind all others."""
        md.postprocessors.register(_PutBack(md), "live_numbers", priority=-10)


def makeExtension(**options: Any) -> TokenExtension:  # noqa: N802 - the name is Markdown's
    """The entry point that Markdown looks for."""
    return TokenExtension(**options)
