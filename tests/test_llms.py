"""The site for machines: `llms.txt` and the Markdown of each page say what the pages say."""

from __future__ import annotations

import textwrap
import unicodedata
from pathlib import Path

import pytest

from live_numbers import machine_pages
from live_numbers.machine_pages import Entry, as_markdown, difference, listing
from tests.test_build import build
from tests.tiny_site import TinySite

PICTURE = """
<article><h1>Cats<a class="headerlink" href="#cats">¶</a></h1>
<p>They have
<data value="12" data-expr="legs(3)">12</data> legs, see <a href="../dogs/#tails">dogs</a>,
<a href="a.png">it</a> and <a href="#below">below</a>.</p>
<p>12. That was all.</p>
<figure><div data-picture="legs"><svg><title>Legs of 3 cats.</title><text>99</text></svg></div>
<figcaption>Few.</figcaption>
<details><summary>The values</summary>
<table><thead><tr><th>cats</th><th>a|b</th></tr></thead><tbody><tr><td>3</td><td><code>x|y</code></td></tr></tbody></table>
</details>
</figure>
<div class="ln-code" data-code="legs"><div class="highlight"><span class="filename">lesson_code/cats.py</span>
<pre><code>def legs(cats):


    return cats * 4
</code></pre></div></div>
<div data-block="count"><div class="highlight"><pre><code>print("```")
</code></pre></div><div class="highlight"><pre><code>```
</code></pre></div></div>
<form><input value="77"><button>Run 88 times</button></form>
<ol><li>first</li><li>second</li></ol>
</article>
"""

MARKDOWN = """\
# Cats

They have 12 legs, see [dogs](../dogs/index.md), [it](a.png) and below.

12\\. That was all.

*Picture: Legs of 3 cats.*

Few.

**The values**

| cats | a\\|b |
| --- | --- |
| 3 | `x\\|y` |

`lesson_code/cats.py`:

```python
def legs(cats):


    return cats * 4
```

````python
print("```")
````

Output:

````text
```
````

1. first
2. second
"""


def test_a_page_as_markdown() -> None:
    """A machine would read a macro, half a table, a button or the numbers of an axis, or lose the code's file."""
    known = frozenset({"lessons/cats/index.html", "lessons/dogs/index.html"})
    page = as_markdown(f"<html><body>{PICTURE}</body></html>", "lessons/cats/index.html", known)
    assert page.text == MARKDOWN
    assert page.lost == ""


@pytest.mark.parametrize(
    ("seen", "text", "said"),
    [
        ("3 cats, 12 legs", "1. 3 cats,\n2. [12 legs](page-9.md)", ""),
        ("3 cats", "```text title=9\n3 cats\n```", ""),
        ("2. cats", "```\n2. cats\n```", ""),
        ("3 cats, 12 legs", "3 cats, 21 legs", "21 for 12, after 3"),
        ("3 cats, 12 legs", "3 cats", "12 missing"),
        ("3 cats", "3 cats, 12 legs", "12 added"),
    ],
)
def test_numbers_that_differ_are_named(seen: str, text: str, said: str) -> None:
    """A number lost or changed on the way to Markdown would be published."""
    assert difference(seen, text) == said


def test_the_list_of_pages() -> None:
    """A machine would not find a page, or not learn what it is about."""
    entries = [Entry("", "Cats", "Their legs.", "cats/index.html"), Entry("About", "Us", "", "us/index.html")]
    expected = """\
        # Pets

        > All about pets.

        ## Pages

        - [Cats](https://example.org/cats/index.md): Their legs.

        ## About

        - [Us](https://example.org/us/index.md)
        """
    about = Entry("", "Pets", "All about pets.", "https://example.org/")
    assert listing(entries, about) == textwrap.dedent(expected)


def test_a_build_writes_them(site: TinySite) -> None:
    """The site would be published without its feed, or with macros and private characters in it."""
    assert build(site.root).returncode == 0
    assert site.path("site/llms.txt").read_text(encoding="utf-8").startswith("# Tiny\n")
    page = site.path("site/lessons/cats/index.md").read_text(encoding="utf-8")
    assert "Three cats have 12 legs, says 4 of one." in page
    assert "| 5,000 | 20,000 |" in page
    assert "```text\n12 legs\n```" in page
    assert "They have 12." in page
    assert not any(unicodedata.category(character) == "Co" for character in page)
    assert "[[=" not in page


def test_a_page_that_loses_a_number_is_not_published(
    site: TinySite, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """If this failed, a figure could get lost in the Markdown and nobody would know."""
    page = tmp_path / "site" / "cats.html"
    page.parent.mkdir(exist_ok=True)
    page.write_text("<html><body><article><p>12 legs</p></article></body></html>", encoding="utf-8")
    monkeypatch.setattr(machine_pages._Converter, "convert_p", lambda *_, **__: "legs")
    as_markdown.cache_clear()
    faults = machine_pages.write(site.project, page.parent, {"cats.md": "cats.html"}, [], Entry("", "", "", ""))
    assert [(fault.file, fault.kind) for fault in faults] == [("docs/cats.md", "faulty Markdown")]
    assert "12 missing" in faults[0].what
