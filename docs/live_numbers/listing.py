"""Python code as lean HTML, for the reference pages: they show whole files, so only what tells something is marked.

Pygments marks every bracket, which makes a page three times as large and takes seconds. The classes here are its
own, which the theme colours.
"""

from __future__ import annotations

import html
import keyword
import re

CONSTANTS = ("False", "None", "True")
KEYWORDS = "|".join(word for word in keyword.kwlist if word not in CONSTANTS)
KINDS = {
    "s": r"""(?:(?<!\w)[rbfuRBFU]{1,2})?(?:(?P<quotes>'''|\"\"\")(?:\\.|[^\\])*?(?P=quotes)"""
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')""",
    "c1": r"\#[^\n]*",
    "nf": r"(?<=def\ )\w+",
    "nc": r"(?<=class\ )\w+",
    "k": rf"\b(?:{KEYWORDS})\b",
    "kc": rf"\b(?:{'|'.join(CONSTANTS)})\b",
    "mi": r"\b\d\w*(?:\.\d[\d_]*)?",
    "nd": r"(?<![\w\])]\ )@[A-Za-z_][\w.]*",
}
MARKED = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in KINDS.items()), re.S)


def marked(source: str) -> str:
    """The code with keywords, names that are defined, texts, numbers and comments in spans; its text is unchanged."""
    parts, at = [], 0
    for found in MARKED.finditer(source):
        parts += [html.escape(source[at : found.start()], quote=False), _span(found)]
        at = found.end()
    return "".join([*parts, html.escape(source[at:], quote=False)])


def _span(found: re.Match[str]) -> str:
    kind = next(kind for kind in KINDS if found[kind] is not None)
    return f'<span class="{kind}">{html.escape(found[0], quote=False)}</span>'


def block(source: str) -> str:
    """A block of code as the theme shows one."""
    return f'<div class="highlight"><pre><code>{marked(source)}\n</code></pre></div>'
