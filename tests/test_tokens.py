"""A figure on its way through Markdown, with the very extensions of the site."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from markdown import Markdown
from mkdocs.utils.yaml import yaml_load

from live_numbers.tokens import FIRST, LAST, Piece, Tokens, tokens

MKDOCS = Path(__file__).parent.parent / "mkdocs.yml"
NAME = 'legs("<cats>", 3)'
FIGURE = '<data class="ln" value="12" data-expr="legs(&quot;&lt;cats&gt;&quot;, 3)">12 &lt;</data>'
BLOCK = '<div class="ln-table"><hr></div>'
DETAILS = "<details><summary>The values</summary></details>"


@pytest.fixture(autouse=True)
def _own_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test an empty table of tokens, and the build its own back."""
    monkeypatch.setattr(tokens, "pieces", [])


def figure() -> str:
    """Put a figure aside whose text has a character that HTML must escape."""
    return tokens.put(Piece(FIGURE, "12 <", NAME))


def converter() -> Markdown:
    """Make a converter as the site has it."""
    names: list[str] = []
    settings: dict[str, dict[str, Any]] = {}
    for entry in yaml_load(MKDOCS.read_text(encoding="utf-8"))["markdown_extensions"]:
        if isinstance(entry, dict):
            settings |= entry
            names += entry
        else:
            names.append(entry)
    assert "live_numbers.tokens" in names
    return Markdown(extensions=names, extension_configs=settings)


def shown(text: str) -> str:
    """Convert a page."""
    return converter().convert(text)


def figures(page: str) -> list[list[list[str]]]:
    """Read what `data-figures` names, attribute by attribute."""
    return [json.loads(html.unescape(found)) for found in re.findall(r'data-figures="([^"]*)"', page)]


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("<p>They have @ legs.</p>", "They have @ legs."),
        ("<p>@</p>", "@"),
        ("<p>(@), @; @!</p>", "(@), @; @!"),
        ("<p>@@</p>", "@@"),
        ("<p>\\@</p>", "\\@"),
        ("<blockquote>\n<p>@</p>\n</blockquote>", "> @"),
        # Emphasis around a figure and right beside it.
        ("<p><em>@</em> <strong>@</strong> <em>@</em></p>", "*@* **@** _@_"),
        ("<p>@<em>x</em> <strong>x</strong>@ x@<em>y</em></p>", "@*x* **x**@ x@*y*"),
        ("<p><strong>about @ legs</strong></p>", "**about @ legs**"),
        # Code.
        ("<p><code>@</code> <code>x = @</code></p>", "`@` `x = @`"),
        # Links: the text, and the reference.
        ('<p><a href="u.html">@ legs</a></p>', "[@ legs](u.html)"),
        ('<p><a href="u.html">@</a></p>', "[@][u]\n\n[u]: u.html"),
        # Lists.
        ("<ul>\n<li>@ a</li>\n<li>b @</li>\n</ul>", "- @ a\n- b @"),
        ("<ol>\n<li>@</li>\n</ol>", "1. @"),
        (
            "<ul>\n<li>a<ul>\n<li>@<ul>\n<li>b @</li>\n</ul>\n</li>\n</ul>\n</li>\n</ul>",
            "- a\n    - @\n        - b @",
        ),
        # Raw HTML, with and without Markdown in it.
        ("<div>\n<p>@</p>\n</div>", "<div markdown>\n\n@\n\n</div>"),
        ("<div>@</div>", "<div>@</div>"),
        ('<p class="x">a @</p>', "a @\n{.x}"),
    ],
)
def test_in_the_text(expected: str, text: str) -> None:
    """A figure in such a place would be lost, escaped, doubled, or break the Markdown around it."""
    token = figure()
    assert expected.replace("@", FIGURE) == shown(text.replace("@", token))


def test_in_a_heading() -> None:
    """A changed figure would break the links to its heading, or stand as HTML in the table of contents."""
    md = converter()
    page = md.convert(f"# With {figure()} legs {{#legs}}\n\n## More\n\n### {figure()} {{#deep}}")
    assert f'<h1 id="legs">With {FIGURE} legs<a class="headerlink" href="#legs"' in page
    assert f'<h3 id="deep">{FIGURE}<a ' in page
    (first,) = md.toc_tokens  # type: ignore[attr-defined] # the toc extension sets it
    assert ("legs", "With 12 &lt; legs") == (first["id"], first["name"])
    (deep,) = first["children"][0]["children"]
    assert ("deep", "12 &lt;") == (deep["id"], deep["name"])


def test_in_the_label_of_a_heading() -> None:
    """The table of contents would show the bare character, since it takes a label as it stands."""
    md = converter()
    md.convert(f"# A {{#a data-toc-label='{figure()} legs'}}")
    (entry,) = md.toc_tokens  # type: ignore[attr-defined] # the toc extension sets it
    assert "12 &lt; legs" == entry["name"]


def test_in_a_table() -> None:
    """A cell with a figure would lose it, or its row a column."""
    token = figure()
    page = shown(f"| a {token} | b |\n|---|--:|\n| {token} | {token}{token} |\n| **{token}** | |")
    assert f"<th>a {FIGURE}</th>" in page
    assert f"<td>{FIGURE}</td>" in page
    assert re.search(r"<td style[^>]*>" + re.escape(FIGURE * 2) + "</td>", page)
    assert f"<td><strong>{FIGURE}</strong></td>" in page


def test_a_table_stands_in_a_box_that_scrolls() -> None:
    """On a phone a wide table would make the whole page scroll sideways."""
    box = '<div class="md-typeset__scrollwrap"><div class="md-typeset__table"><table>'
    token = tokens.put(Piece('<div class="ln-table"><table><tr></tr></table></div>', ""))
    page = shown(f"| a |\n|---|\n| b |\n\n{token}\n\n<table class='x'></table>")
    assert page.count(box) == page.count("</table></div></div>") == 2
    assert f'<div class="ln-table">{box}<tr></tr></table></div></div></div>' in page
    assert "<table class='x'></table>" in page
    assert shown(page).count("md-typeset__scrollwrap") == 2  # one box is enough


@pytest.mark.parametrize("fence", ["```text\nx @ y\n```", "```python\nx = @\n```", "~~~\n@\n~~~", "    @"])
def test_in_a_code_block(fence: str) -> None:
    """A listing would show the bare character, or the HTML as text."""
    page = shown(fence.replace("@", figure()))
    assert "<pre>" in page
    assert 1 == page.count(FIGURE)
    assert chr(FIRST) not in page


@pytest.mark.parametrize(
    ("tag", "title"),
    [("!!! note", 'p class="admonition-title"'), ("??? tip", "summary"), ("???+ tip", "summary")],
)
def test_in_a_box(tag: str, title: str) -> None:
    """A note, or a folded answer, would lose the figures of its title or its text."""
    token = figure()
    block = tokens.put(Piece(BLOCK, ""))
    page = shown(f'{tag} "Has {token}"\n    In {token}.\n\n    {block}\n\n    - {token}\n')
    assert f"<{title}>Has {FIGURE}</{title.split()[0]}>" in page
    assert f"<p>In {FIGURE}.</p>\n{BLOCK}\n<ul>\n<li>{FIGURE}</li>" in page


def test_in_an_alternative_text() -> None:
    """A screen reader would read out HTML, the page would be broken, or nobody could check the figure."""
    page = shown(f"![{figure()} cats](cats.png)")
    assert '<img alt="12 &lt; cats" src="cats.png" data-figures="' in page
    assert page.endswith("/></p>")
    assert [[[NAME, "12 <"]]] == figures(page)


def test_every_figure_of_a_tag_is_named() -> None:
    """The second figure of a picture would go unchecked."""
    other = tokens.put(Piece("<data>5</data>", '5 "é"', "five"))
    page = shown(f"![{figure()}, {other}](cats.png '{other}')\n\n![no figure](dogs.png)")
    assert 'alt="12 &lt;, 5 &quot;é&quot;"' in page
    assert 'title="5 &quot;é&quot;"' in page
    assert [[[NAME, "12 <"], ["five", '5 "é"'], ["five", '5 "é"']]] == figures(page)


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ('<a title="a > 12 &lt;" href="u"', '<a title="a > @" href="u">x</a>'),
        ("<a title='a > 12 &lt; \"' href='u'", "<a title='a > @ \"' href='u'>x</a>"),
        ('<br title="12 &lt;"', '<br title="@"/>'),
        ('<br title="12 &lt;"', '<br title="@" />'),
        ('<img alt="&gt; 12 &lt;" src="u"', '<img alt="&gt; @" src="u">'),
        ('<abbr title="12 &lt; legs"', "HTML\n\n*[HTML]: @ legs"),
    ],
)
def test_a_greater_than_sign_in_quotes_ends_no_tag(expected: str, text: str) -> None:
    """The figure's HTML would stand inside an attribute, where the rest of the tag would become text."""
    page = shown(text.replace("@", figure()))
    assert expected + ' data-figures="' in page
    assert FIGURE not in page
    assert [[[NAME, "12 <"]]] == figures(page)


def test_a_tag_and_its_text() -> None:
    """A figure behind a comparison in the text would be taken for one inside a tag."""
    token = figure()
    assert f"<p>1 &lt; {FIGURE} and {FIGURE} &gt; 2</p>" == shown(f"1 < {token} and {token} > 2")
    assert f"<p>it's {FIGURE}, it's</p>" == shown(f"it's {token}, it's")
    page = shown(f'<b title="{token}">{token}</b>')
    assert page.endswith(f'">{FIGURE}</b></p>')
    assert 1 == page.count(FIGURE)


@pytest.mark.parametrize("block", [BLOCK, DETAILS, "<ul><li>a</li></ul>"])
def test_a_block_alone_stands_without_a_paragraph(block: str) -> None:
    """A division inside a paragraph is no HTML: the browser would tear the paragraph into two empty ones."""
    token = tokens.put(Piece(block, ""))
    assert block == shown(token)
    assert f"<p>a</p>\n{block}\n<p>b</p>" == shown(f"a\n\n{token}\n\nb")
    assert f"<ul>\n<li>\n<p>a</p>\n{block}\n</li>\n</ul>" == shown(f"- a\n\n    {token}")
    assert f"<ul>\n<li>{block}</li>\n</ul>" == shown(f"- {token}")


@pytest.mark.parametrize("character", [FIRST + 1, FIRST + 999, LAST, LAST + 1, 0xE000])
def test_a_stray_private_use_character(character: int) -> None:
    """A character that a page happens to hold would end the build, or become a figure that nobody computed."""
    figure()
    stray = chr(character)
    assert f"<p>a {stray} b</p>" == shown(f"a {stray} b")
    assert f'<p><img alt="{stray}" src="x.png" /></p>' == shown(f"![{stray}](x.png)")
    page = shown(f"![{stray}{chr(FIRST)}](x.png)")
    assert f'alt="{stray}12 &lt;"' in page
    assert [[[NAME, "12 <"]]] == figures(page)


def test_plain_text() -> None:
    """The title of the page and the search would show a character that no font has."""
    table = Tokens()
    token = table.put(Piece("<data>12</data>", "12", "legs(3)"))
    assert "has 12 legs, 12" == table.plain(f"has {token} legs, {token}")
    assert "nothing" == table.plain("nothing")
    assert f"stray {chr(FIRST + 5)}" == table.plain(f"stray {chr(FIRST + 5)}")


def test_pieces_are_kept_apart() -> None:
    """Two figures would share a character, and one be shown in the place of the other."""
    table = Tokens()
    put = [table.put(Piece(f"<data>{i}</data>", str(i))) for i in range(1000)]
    assert 1000 == len(set(put))
    assert "".join(f"<data>{i}</data>" for i in range(1000)) == table.html("".join(put))
    assert "".join(str(i) for i in range(1000)) == table.plain("".join(put))


def test_the_table_can_be_full() -> None:
    """A figure too many would get a character beyond Unicode's, or one that is no private-use one."""
    table = Tokens()
    table.pieces = [Piece("", "")] * (LAST - FIRST)
    assert chr(LAST) == table.put(Piece("<b>last</b>", "last"))
    assert "<b>last</b>" == table.html(chr(LAST))
    with pytest.raises(OverflowError, match="figures in one build"):
        table.put(Piece("", ""))
