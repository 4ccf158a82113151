"""A site of one page, small enough to build in a moment and to break on purpose."""

from __future__ import annotations

import shutil
from pathlib import Path

from live_numbers.command import main, survey
from live_numbers.faults import Fault
from live_numbers.project import Project

MKDOCS = """\
site_name: Tiny
strict: true
exclude_docs: |
  *.toml
  *.lock
theme: {name: null, custom_dir: theme}
extra: {live_numbers: {seconds: 60}}
validation: {links: {anchors: warn, not_found: warn, unrecognized_links: warn}}
markdown_extensions: [attr_list, md_in_html, tables, pymdownx.details, pymdownx.superfences, live_numbers.tokens]
plugins:
  - markdown-exec: {languages: [python]}
  - macros:
      modules: [live_numbers]
      on_undefined: strict
      j2_variable_start_string: "[[="
      j2_variable_end_string: "=]]"
      j2_block_start_string: "[[%"
      j2_block_end_string: "%]]"
      j2_comment_start_string: "[[#"
      j2_comment_end_string: "#]]"
"""

TEMPLATE = """\
<html><head><title>{{ page.title }} - {{ config.site_name }}</title>
<meta name="description" content="{{ page.meta.description or '' }}"></head>
<body><article>{{ page.content }}</article></body></html>
"""

LESSON = '''\
"""Legs."""

LEGS = 4


def legs(cats):
    """Count the legs of some cats."""
    return cats * LEGS


# region: tails
def tails(cats):
    """Count the tails."""
    return [1] * cats
# endregion
'''

TESTS = """\
from lesson_code.cats import LEGS, legs, tails


def test_legs():
    assert 3 + 1 == LEGS
    assert 3 * 4 == legs(3)
    assert [4, 8, 12] == [legs(n) for n in range(1, 4)]
    assert 5_000 * 4 == legs(5_000)
"""

PAGE = """\
---
description: How many legs cats have.
---

# Legs

[[= given(3, "Words") =]] cats have [[= number("legs(3)") =]] legs, says [[= cited("vet.legs") =]] of one.

| cats | legs |
|---|---|
| [[= given(5_000) =]] | [[= number("legs(5_000)") =]] |

## More on [[= number("LEGS") =]] legs { #more }

Every Leg-2000 has a name. [Up](#more)

```python exec="1" id="count"
from lesson_code.cats import legs

print(legs(3), "legs")
```

[[= code("legs") =]]

![A cat on [[= number("LEGS", "words") =]] legs](cat.svg)

??? question "How many legs have [[= given(3, "words") =]] cats?"
    They have [[= number("legs(3)") =]].
"""

SOURCES = """\
[vet]
title = "The cat"
author = "A vet"
address = "https://example.org/cat"
read = "read in May"

[vet.figures.legs]
value = 4
written = "4"
quote = "A cat has 4 legs."
"""

TYPED = """\
units = ["leg", "cat"]

[[allow]]
text = "Leg-2000"
reason = "a name"
"""

FILES = {
    "mkdocs.yml": MKDOCS,
    "theme/main.html": TEMPLATE,
    "lesson_code/__init__.py": '"""Lessons."""\n',
    "lesson_code/cats.py": LESSON,
    "tests/test_cats.py": TESTS,
    "docs/lessons/cats.md": PAGE,
    "docs/lessons/cat.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>\n",
    "docs/sources.toml": SOURCES,
    "docs/typed_numbers.toml": TYPED,
}


class TinySite:
    """The site in a folder of its own, accepted as it is."""

    def __init__(self, root: Path, copy_of: Path | None = None, accept: bool = True) -> None:
        """Make it anew and accept its figures, or copy one that is there."""
        self.root = root
        self.project = Project(root.resolve())
        if copy_of is not None:
            shutil.copytree(copy_of, root, ignore=shutil.ignore_patterns("__pycache__"))
            return
        for name, content in FILES.items():
            self.write(name, content)
        if accept:
            assert self.run("accept") == 0

    def path(self, name: str) -> Path:
        """A file of the site."""
        return self.root / name

    def write(self, name: str, content: str) -> None:
        """Write a file of the site."""
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(content, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text that stands in a file exactly once."""
        content = self.path(name).read_text(encoding="utf-8")
        assert content.count(old) == 1, f"{old!r} stands {content.count(old)} times in {name}"
        self.write(name, content.replace(old, new))

    def line(self, text: str, name: str = "docs/lessons/cats.md") -> int:
        """The line on which a text first stands."""
        content = self.path(name).read_text(encoding="utf-8")
        return content[: content.index(text)].count("\n") + 1

    def faults(self) -> list[Fault]:
        """What a build finds, without running the tests."""
        return survey(self.project).faults

    def run(self, *arguments: str) -> int:
        """The command `live-numbers`, on this site."""
        return main(["--root", str(self.root), *arguments])
