"""The gate turns red for every way in which a figure can lie: tiny bad sites, each with its fault and its place."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from live_numbers import gate
from tests.tiny_site import TinySite

PAGE = "docs/lessons/cats.md"
CODE = "lesson_code/cats.py"


@dataclass(frozen=True)
class Bad:
    """A way to break the site.

    Attributes:
        name: what is broken.
        edits: (file, old text, new text), or (file, "", whole new content).
        kind: the kind of fault that must be found.
        at: the file it is in, and a text of the line it must name; an empty text where no line can be named.
        says: what the message must contain.
    """

    name: str
    edits: tuple[tuple[str, str, str], ...]
    kind: str
    at: tuple[str, str]
    says: tuple[str, ...] = ()


def in_page(old: str, new: str) -> tuple[tuple[str, str, str], ...]:
    """One edit of the page."""
    return ((PAGE, old, new),)


END = "Every Leg-2000 has a name."


def typed(name: str, text: str, number: str) -> Bad:
    """A sentence added to the page, in which a number is typed."""
    at = next((line for line in text.split("\n") if number.split()[0] in line), text.split("\n")[0])
    return Bad(f"typed: {name}", in_page(END, f"{END}\n\n{text}"), "typed number", (PAGE, at), (repr(number),))


BAD = [
    # The code changed.
    Bad(
        "changed value",
        ((CODE, "cats * LEGS", "cats * LEGS + 1"),),
        "changed figure",
        (PAGE, "cats have [["),
        ("legs(3)", "accepted 12", "now      13", "live-numbers accept"),
    ),
    Bad(
        "changed constant",
        ((CODE, "LEGS = 4", "LEGS = 5"),),
        "changed figure",
        (PAGE, "## More"),
        ("LEGS", "4", "5"),
    ),
    Bad(
        "changed output",
        ((CODE, "cats * LEGS", "cats * 5"),),
        "changed output",
        (PAGE, 'id="count"'),
        ("- 12 legs", "+ 15 legs"),
    ),
    Bad(
        "changed written form",
        in_page('number("legs(5_000)")', 'number("legs(5_000)", "plain")'),
        "changed form",
        (PAGE, "legs(5_000)"),
        ("20,000", "20000"),
    ),
    # Something typed.
    typed("in a sentence", "A cat has 12,345 lives.", "12,345"),
    typed("in words before a unit", "I saw seven cats.", "seven cats"),
    typed("in words with a hyphen", "It is a seven-cat house.", "seven-cat"),
    typed("in words in bold", "I saw **seven** cats.", "seven cats"),
    typed("in words with an adjective", "I saw seven black cats.", "seven black cats"),
    typed("in compound words", "I saw twenty-five cats.", "twenty-five cats"),
    typed("after a minus sign", "It was −7 outside.", "7"),
    typed("after a hyphen", "It was -7 outside.", "7"),
    typed("inside a link", "See [the 9 lives](#more).", "9"),
    typed("in a list", "- it has 9 lives", "9"),
    typed("as full-width digits", "It has ９ lives.", "９"),
    typed("as Arabic-Indic digits", "It has ٩ lives.", "٩"),
    typed("as a Chinese numeral", "It has 九 lives.", "九"),
    typed("as a fraction", "It ate ½ of it.", "½"),
    typed("as a superscript", "It has x² lives.", "²"),
    typed("as a Roman numeral character", "It has Ⅸ lives.", "Ⅸ"),
    typed("as a circled digit", "It has ⑨ lives.", "⑨"),
    typed("split by markup", "It has **1**2 lives.", "12"),
    typed("in inline code", "It has `9 lives`.", "9"),
    typed("beside a computed figure", 'It has 1[[= number("legs(3)") =]] lives.', "1"),
    typed("in quoted text", "> It has 9 lives.", "9"),
    typed("in a raw table", "<table><tr><td>9 lives</td></tr></table>", "9"),
    typed("in a title attribute", '[Up](#more "9 lives")', "9"),
    typed("in an alternative text", "![9 lives](cat.svg)", "9"),
    typed("in a caption", "<figure><figcaption>It has 9 lives</figcaption></figure>", "9"),
    typed("in a picture of its own", "<svg><text>It has 9 lives</text></svg>", "9"),
    typed("as the start of a list", '<ol start="9"><li>lives</li></ol>', "9"),
    typed("as part of an allowed name", "A Leg-20001 is rare.", "20001"),
    Bad(
        "typed: in a table",
        in_page("| cats | legs |", "| cats of 2 | legs |"),
        "typed number",
        (PAGE, "cats of 2"),
        ("'2'",),
    ),
    Bad(
        "typed: in a heading",
        in_page("# Legs", "# Legs of 4"),
        "typed number",
        (PAGE, "# Legs of 4"),
        ("'4'", "Legs of 4"),
    ),
    Bad(
        "typed: in the description",
        in_page("How many legs cats have.", "Why cats have 4 legs."),
        "typed number",
        (PAGE, "Why cats"),
        ("'4'",),
    ),
    Bad(
        "typed: in a folded answer",
        in_page("    They have", "    They have 4 or"),
        "typed number",
        (PAGE, "They have 4"),
        ("'4'",),
    ),
    Bad(
        "a figure that is only a literal",
        in_page(END, '[[= number("12345") =]]'),
        "typed figure",
        (PAGE, "12345"),
        ("uses nothing",),
    ),
    Bad(
        "an input that nothing uses",
        in_page(END, END + "\n[[= given(77) =]]"),
        "unused input",
        (PAGE, "77"),
        ("77",),
    ),
    Bad(
        "a typed axis",
        in_page(END, '[[= table({"n": "[7, 8, 9]", "legs": "[legs(n) for n in range(1, 4)]"}) =]]'),
        "typed figure",
        (PAGE, "[7, 8, 9]"),
    ),
    # Something forged.
    Bad(
        "a figure written by hand",
        in_page(END, '<data value="12" data-expr="legs(3)">13</data>'),
        "forged figure",
        (PAGE, "13</data>"),
        ("13",),
    ),
    Bad(
        "an output written by hand",
        in_page(END, '<div data-block="count"><pre>15 legs</pre></div>'),
        "forged example",
        (PAGE, "15 legs"),
    ),
    Bad(
        "code written by hand",
        in_page(END, '<div data-code="legs"><pre>return 5</pre></div>'),
        "forged code",
        (PAGE, "return 5"),
    ),
    Bad(
        "a picture drawn by hand",
        in_page(END, '<div data-picture="x"><svg><text>9</text></svg></div>'),
        "forged picture",
        (PAGE, "data-picture"),
    ),
    Bad("a list made up", in_page(END, '<div data-list=""><q>5 legs</q></div>'), "forged list", (PAGE, "5 legs")),
    Bad("code without a reason", in_page(END, "```\nx = 12\n```\n\nSee"), "unexplained code block", (PAGE, "x = 12")),
    # Something broken.
    Bad(
        "an undefined name in an expression",
        in_page("legs(5_000)", "lges(5_000)"),
        "undefined name",
        (PAGE, "lges("),
        ("lges", "did you mean legs?"),
    ),
    Bad(
        "an undefined macro",
        in_page(END, "[[= nmuber('legs(3)') =]]"),
        "undefined name",
        (PAGE, "nmuber"),
        ("nmuber",),
    ),
    Bad("a broken macro", in_page(END, '[[= number("legs(3)" =]]'), "broken macro", (PAGE, '"legs(3)" =]]')),
    Bad(
        "a macro with a wrong argument",
        in_page(END, '[[= number("legs(3)", colour=1) =]]'),
        "faulty call",
        (PAGE, "colour"),
        ("colour",),
    ),
    Bad(
        "a macro that fails",
        in_page(END, "[[= given(3).nothing.at_all =]]"),
        "failing macro",
        (PAGE, ""),
        ("nothing",),
    ),
    Bad(
        "an expression that is none",
        in_page("legs(5_000)", "legs(5_000"),
        "faulty expression",
        (PAGE, "legs(5_000"),
    ),
    Bad(
        "a raising expression",
        in_page("legs(5_000)", "legs(5_000) / 0 * LEGS"),
        "failing expression",
        (PAGE, "/ 0"),
        ("ZeroDivisionError",),
    ),
    Bad(
        "an expression that ends the interpreter",
        ((CODE, "    return cats * LEGS", "    raise SystemExit(0)"),),
        "failing expression",
        (PAGE, "cats have [["),
        ("sys.exit(0)",),
    ),
    Bad(
        "an expression that is no figure",
        in_page('number("LEGS", "words")', 'number("legs")'),
        "failing expression",
        (PAGE, 'number("legs")'),
        ("function",),
    ),
    Bad(
        "a form that would round",
        in_page('number("legs(5_000)")', 'number("legs(5_000) / 3")'),
        "unwritable figure",
        (PAGE, "/ 3"),
        ("decimals",),
    ),
    Bad(
        "an unknown form",
        in_page('number("legs(5_000)")', 'number("legs(5_000)", "furlongs")'),
        "unwritable figure",
        (PAGE, "furlongs"),
        ("unknown form",),
    ),
    Bad(
        "a raising block",
        in_page('print(legs(3), "legs")', "print(legs(3) / 0)"),
        "failing example",
        (PAGE, 'id="count"'),
        ("ZeroDivisionError",),
    ),
    Bad(
        "a block that exits well",
        in_page('print(legs(3), "legs")', "import sys; sys.exit(0)"),
        "failing example",
        (PAGE, 'id="count"'),
        ("sys.exit(0)",),
    ),
    Bad(
        "a block that kills the interpreter",
        in_page('print(legs(3), "legs")', "import os; os._exit(0)"),
        "failing example",
        (PAGE, 'id="count"'),
        ("exit status 0",),
    ),
    Bad(
        "a block without a name",
        in_page('exec="1" id="count"', 'exec="1"'),
        "unnamed example",
        (PAGE, 'exec="1"'),
    ),
    Bad(
        "missing code",
        in_page('code("legs")', 'code("arms")'),
        "missing code",
        (PAGE, "arms"),
        ("arms", "legs"),
    ),
    Bad(
        "a missing region",
        in_page('code("legs")', 'code("cats:heads")'),
        "missing code",
        (PAGE, "heads"),
        ("heads", "tails"),
    ),
    Bad(
        "a syntax error in the code",
        ((CODE, "def legs(cats):", "def legs(cats:"),),
        "broken code",
        (CODE, "def legs(cats:"),
        ("never closed",),
    ),
    Bad(
        "an import that fails",
        ((CODE, "LEGS = 4", "LEGS = 4\nimport no_such_module"),),
        "broken code",
        (CODE, "import no_such_module"),
        ("no_such_module",),
    ),
    Bad(
        "a broken anchor",
        in_page("(#more)", "(#most)"),
        "warning of the builder",
        (PAGE, "#most"),
        ("#most",),
    ),
    Bad(
        "a broken link",
        in_page("(#more)", "(dogs.md)"),
        "warning of the builder",
        (PAGE, "dogs.md"),
        ("dogs.md",),
    ),
    Bad(
        "macros switched off",
        in_page("description:", "render_macros: false\ndescription:"),
        "unused ledger line",
        ("docs/numbers.lock", "legs(3)"),
    ),
    # Sources, allow-list, ledger, tests.
    Bad(
        "an unknown source",
        in_page("vet.legs", "doctor.legs"),
        "unknown source",
        (PAGE, "doctor.legs"),
        ("doctor", "vet"),
    ),
    Bad(
        "an unknown figure of a source",
        in_page("vet.legs", "vet.arms"),
        "unknown source",
        (PAGE, "vet.arms"),
        ("arms", "legs"),
    ),
    Bad(
        "a figure not in its quote",
        (("docs/sources.toml", "A cat has 4 legs.", "A cat has 14 legs."),),
        "faulty source",
        ("docs/sources.toml", "[vet.figures.legs]"),
        ("does not stand in the quote",),
    ),
    Bad(
        "a value that is not what is written",
        (("docs/sources.toml", "value = 4", "value = 5"),),
        "faulty source",
        ("docs/sources.toml", "[vet.figures.legs]"),
        ("value is 5",),
    ),
    Bad(
        "a source without an author",
        (("docs/sources.toml", 'author = "A vet"\n', ""),),
        "faulty source",
        ("docs/sources.toml", "[vet]"),
        ("no author",),
    ),
    Bad(
        "sources that are no TOML",
        (("docs/sources.toml", "[vet]", "[vet"),),
        "unreadable sources",
        ("docs/sources.toml", ""),
    ),
    Bad(
        "a figure that does not rest on its source",
        in_page('number("legs(5_000)")', 'number("legs(5_000)", source="vet.legs")'),
        "wrong source",
        (PAGE, 'source="vet.legs"'),
    ),
    Bad(
        "an unused allow-list entry",
        (("docs/typed_numbers.toml", 'text = "Leg-2000"', 'text = "Leg-3000"'),),
        "unused allow-list entry",
        ("docs/typed_numbers.toml", "Leg-3000"),
        ("Leg-3000",),
    ),
    Bad(
        "an entry without a reason",
        (("docs/typed_numbers.toml", 'reason = "a name"', 'reason = ""'),),
        "faulty allow-list",
        ("docs/typed_numbers.toml", "Leg-2000"),
        ("reason",),
    ),
    Bad(
        "a ledger line that no page uses",
        in_page('number("legs(5_000)")', "given(3)"),
        "unused ledger line",
        ("docs/numbers.lock", "legs(5000)"),
        ("legs(5000)",),
    ),
    Bad(
        "a ledger that is no TOML",
        (("docs/numbers.lock", "'legs(3)' =", "'legs(3)"),),
        "unreadable ledger",
        ("docs/numbers.lock", ""),
    ),
    Bad(
        "a figure that no test asserts",
        in_page(END, '[[= number("legs(9)") =]]'),
        "unasserted figure",
        (PAGE, "legs(9)"),
        ("tests/test_cats.py", "== legs(9)"),
    ),
    Bad(
        "an assertion taken away",
        (("tests/test_cats.py", "    assert 3 * 4 == legs(3)\n", ""),),
        "unasserted figure",
        (PAGE, "cats have [["),
        ("legs(3)",),
    ),
    Bad(
        "an assertion that takes its value from the code",
        (("tests/test_cats.py", "3 * 4 == legs(3)", "3 * LEGS == legs(3)"),),
        "unasserted figure",
        (PAGE, "cats have [["),
    ),
    Bad(
        "a skipped assertion",
        (
            (
                "tests/test_cats.py",
                "def test_legs",
                "import pytest\n\n\n@pytest.mark.skip(reason='late')\ndef test_legs",
            ),
        ),
        "unasserted figure",
        (PAGE, "cats have [["),
    ),
    Bad(
        "an unstable figure",
        (
            (CODE, "    return cats * LEGS", "    import random\n\n    return random.random()"),
            (PAGE, 'number("legs(5_000)")', 'number("legs(5_000)", ".3")'),
        ),
        "unstable figure",
        (PAGE, "legs(5_000)"),
        ("legs(5000)",),
    ),
    Bad(
        "an output that depends on the hash seed",
        in_page('print(legs(3), "legs")', 'print(sorted("abcdefgh", key=hash))'),
        "unstable figure",
        (PAGE, 'id="count"'),
    ),
    Bad(
        "mkdocs.yml without the extension",
        (("mkdocs.yml", ", live_numbers.tokens", ""),),
        "lost figure",
        (PAGE, ""),
        ("live_numbers.tokens",),
    ),
]


def page(name: str, new: str, kind: str, says: str = "", at: str = "", old: str = END) -> Bad:
    """One edit of the page, with the fault on the line that holds the new text or the one given."""
    return Bad(name, in_page(old, new), kind, (PAGE, at or new.split("\n")[0]), (says,) if says else ())


def block(name: str, code: str, kind: str, says: str) -> Bad:
    """Another executed block."""
    return page(name, code, kind, says, 'id="count"', 'print(legs(3), "legs")')


FENCE = 'exec="1" id="count"'
LIST = "docs/typed_numbers.toml"
VET = "docs/sources.toml"

# What a hostile reviewer tried.
HOSTILE = [
    page("a changed input", "| [[= given(3) =]]", "changed input", "5000 became 3", old="| [[= given(5_000) =]]"),
    Bad(
        "a source that says something else",
        ((VET, "value = 4", "value = 5"), (VET, 'written = "4"', 'written = "5"'), (VET, "has 4 legs", "has 5 legs")),
        "changed figure",
        (PAGE, "vet.legs"),
        ("cited: vet.legs", "accepted 4", "now      5"),
    ),
    Bad(
        "a quote that says millions",
        ((VET, "has 4 legs", "has 4 million legs"),),
        "faulty source",
        (VET, "[vet.figures.legs]"),
        ("does not stand in the quote",),
    ),
    Bad(
        "a quote with a minus",
        ((VET, "has 4 legs", "has -4 legs"),),
        "faulty source",
        (VET, "[vet.figures.legs]"),
        ("does not stand in the quote",),
    ),
    typed("as a byte unit behind a figure", '[[= number("legs(3)") =]] GB of it.', "12 GB"),
    typed("as a word for percent behind a figure", '[[= number("legs(3)") =]] percent of it.', "12 percent"),
    typed("in code marks that hold prose", "It has `about 9 lives`.", "9"),
    typed("as a link that shows its own end", '<a href="9,000 legs">9,000 legs</a>', "9,000"),
    typed("as a footnote that is none", '<a class="footnote-ref" href="#fn:1">999</a>', "999"),
    page(
        "a figure that is written as zero",
        'number("legs(5_000)", ".0 GB")',
        "unwritable figure",
        "written as zero",
        old='number("legs(5_000)")',
    ),
    page("a footnote without its text", "It has a tail[^tail].", "unrendered macro"),
    page("a title that is no text", "title: 9\ndescription:", "faulty title", old="description:"),
    Bad(
        "a ledger line written by hand",
        (("docs/numbers.lock", "'legs(3)' =", "'old(1)'= [1]\n'legs(3)' ="),),
        "unused ledger line",
        ("docs/numbers.lock", "'old(1)'"),
        ("old(1)",),
    ),
    typed("with a line break before the unit", "I saw seven  \ncats.", "seven cats"),
    typed("with a picture before the unit", "I saw seven ![](cat.svg) cats.", "seven cats"),
    typed("in words in quotation marks", 'I saw "seven" cats.', 'seven" cats'),
    typed("in words with a real minus between", "It is a seven\u2212cat house.", "seven\u2212cat"),
    typed("in words before 'of the'", "I saw seven of the cats.", "seven of the cats"),
    typed("in words before two adjectives", "I saw seven big black cats.", "seven big black cats"),
    typed("as hundreds", "I saw hundreds of cats.", "hundreds of cats"),
    typed("as a number word alone in a cell", "| a |\n|---|\n| seven |", "seven"),
    typed("as a sign before a figure", '\u2212[[= number("legs(3)") =]] lives.', "\u221212"),
    typed("as a multiplier behind a figure", '[[= number("legs(3)") =]] million lives.', "12 million"),
    typed("as a unit behind a figure", '[[= number("legs(3)") =]]k lives.', "12k"),
    typed("as a percent sign behind a figure", '[[= number("legs(3)") =]] % of it.', "12 %"),
    typed("as two figures that read as one", '[[= number("LEGS") =]][[= number("LEGS") =]] lives.', "44"),
    typed("as two figures with a point", '[[= number("LEGS") =]].[[= number("LEGS") =]] lives.', "4.4"),
    typed("under a reason that is for code", "It has 9 lives.\n{ data-reason='x' }", "9"),
    typed("beside code with a reason", "<div data-reason='x' markdown>\nIt has 9 lives.\n</div>", "9"),
    typed("in something that looks like a fault", '<strong class="ln-fault">It has 9 lives</strong>', "9"),
    typed("behind the end of the article", "</article><p>It has 9 lives.</p><article>", "9"),
    typed("in an alternative text within code", '<code><img alt="9 lives" src="cat.svg"></code>', "9"),
    typed("in an alternative text with nonsense beside it", '<img alt="9 lives" data-figures="5" src="cat.svg">', "9"),
    typed("in a value text", '<span role="meter" aria-valuetext="9 lives"></span>', "9"),
    page(
        "an axis that runs another way",
        '[[= table({"n": "range(1, 4)", "legs": "[legs(n) for n in reversed(range(1, 4))]"}) =]]',
        "typed figure",
    ),
    page(
        "an axis that is a part of the expression",
        '[[= table({"n": "(1, 4)", "legs": "[legs(n) for n in range(1, 4)][:2]"}) =]]',
        "typed figure",
    ),
    page(
        "a form for no column",
        '[[= table({"legs": "[legs(n) for n in range(1, 4)]"}, {"arms": ".1"}) =]]',
        "faulty table",
        "arms",
    ),
    Bad(
        "a menu with a number",
        (("mkdocs.yml", "strict: true", "strict: true\nnav: [{Part of 9 lives: [lessons/cats.md]}]"),),
        "typed number",
        ("mkdocs.yml", ""),
        ("9 lives",),
    ),
    Bad(
        "a copyright with a number",
        (("mkdocs.yml", "strict: true", "strict: true\ncopyright: 9999 lives"),),
        "typed number",
        ("mkdocs.yml", ""),
        ("9999",),
    ),
    Bad(
        "a file beside the pages",
        (("docs/lives.txt", "", "It has 9 lives."),),
        "unchecked file",
        ("docs/lives.txt", ""),
        ("txt",),
    ),
    Bad(
        "a picture with a number",
        (("docs/lessons/cat.svg", "/>", "><text>9 lives</text></svg>"),),
        "typed number",
        ("docs/lessons/cat.svg", ""),
        ("9",),
    ),
    page(
        "a macro in the description",
        "\"[[= number('LEGS') =]] legs\"",
        "unrendered macro",
        old="How many legs cats have.",
    ),
    page("macros of another dialect", "It has {{ number('LEGS') }} legs.", "unrendered macro"),
    page("front matter that is no YAML", "description: [How", "broken front matter", at="---", old="description: How"),
    page("a script", "<script>document.write('9 lives')</script>", "raw element"),
    page("a style", "<style>p::after { content: '9 lives' }</style>", "raw element"),
    page("a frame", '<iframe srcdoc="9 lives"></iframe>', "raw element"),
    page("a picture in an attribute", '<img alt="" src="data:image/svg+xml,9">', "raw element"),
    page("a figure with another value", '<data value="999" data-expr="legs(3)">12</data>', "forged figure"),
    page("text beside an output", '<div data-block="count"><p>9 lives</p></div>', "typed number", "'9'"),
    block("a block that does not parse", "print(", "failing example", "SyntaxError"),
    block(
        "a block that forks",
        "import os\nif not os.fork():\n    print('child')\nelse:\n    os.wait(); print(legs(3), 'legs')",
        "changed output",
        "child",
    ),
    block("a block that prints without end", "print('x' * 10**6)", "failing example", "prints more than"),
    page("a block in another language", "```bash exec", "unsupported example", "bash", old="```python exec"),
    page("a block with a session", FENCE + ' session="s"', "unsupported example", "session", old=FENCE),
    page("a block that writes HTML", FENCE + ' html="1"', "unsupported example", "html", old=FENCE),
    page(
        "a figure of too many digits",
        'number("10**5000 * LEGS")',
        "failing expression",
        "cannot be written",
        old='number("legs(5_000)")',
    ),
    page(
        "an input that is none", "[[= given([1, 2]) =]]", "unwritable figure", "an input is", old="[[= given(5_000) =]]"
    ),
    page("a form that is none", 'number("LEGS", 5)', "faulty call", "number(...)", old='number("LEGS", "words")'),
    page("code without a name", 'code("")', "missing code", "names nothing", old='code("legs")'),
    page(
        "a module that does not exist",
        "topic: dogs\ndescription:",
        "missing module",
        "lesson_code/dogs.py",
        old="description:",
    ),
    page("a topic that is none", "topic: [cats]\ndescription:", "faulty topic", old="description:"),
    Bad(
        "a page without a module",
        (("docs/lessons/dogs.md", "", "# Dogs\n"),),
        "missing module",
        ("docs/lessons/dogs.md", ""),
        ("create it",),
    ),
    Bad(
        "an example in a docstring that is false",
        ((CODE, 'Count the legs of some cats."""', 'Count the legs of some cats.\n\n    >>> legs(2)\n    9\n    """'),),
        "false docstring",
        (CODE, ">>> legs(2)"),
        ("Expected:", "9", "Got:", "8"),
    ),
    Bad(
        "a test file that does not parse",
        (("tests/test_cats.py", "def test_legs():", "def test_legs(:"),),
        "broken code",
        ("tests/test_cats.py", "def test_legs(:"),
        ("invalid syntax",),
    ),
    Bad(
        "an allow-list in single brackets",
        ((LIST, "[[allow]]", "[allow]"),),
        "faulty allow-list",
        (LIST, ""),
        ("double brackets",),
    ),
    Bad(
        "units that are no list",
        ((LIST, 'units = ["leg", "cat"]', 'units = "leg"'),),
        "faulty allow-list",
        (LIST, ""),
        ("units",),
    ),
    Bad("units taken away", ((LIST, 'units = ["leg", "cat"]\n', ""),), "faulty allow-list", (LIST, ""), ("units",)),
    Bad(
        "a value without end",
        ((VET, "value = 4", "value = inf"),),
        "faulty source",
        (VET, "[vet.figures.legs]"),
        ("not a number",),
    ),
    Bad(
        "an address that is none",
        ((VET, "https://example.org/cat", "javascript:alert(1)"),),
        "faulty source",
        (VET, "[vet]"),
        ("none of the web",),
    ),
    Bad(
        "an empty entry in the ledger",
        (("docs/numbers.lock", "'legs(3)' = [12, \"12\"]", "'legs(3)' = []"),),
        "unreadable ledger",
        ("docs/numbers.lock", ""),
    ),
    Bad(
        "a source that a test names and nobody knows",
        (
            (
                "tests/test_cats.py",
                "def test_legs",
                "import pytest\n\n\n@pytest.mark.published('nobody')\ndef test_legs",
            ),
        ),
        "unknown source",
        (PAGE, "cats have [["),
        ("nobody",),
    ),
]


@pytest.mark.parametrize("bad", BAD + HOSTILE, ids=lambda bad: bad.name)
def test_this_site_must_fail(site: TinySite, bad: Bad) -> None:
    """A site that lies in this way would be published, or its editor would not learn where and why."""
    for file, old, new in bad.edits:
        site.edit(file, old, new) if old else site.write(file, new)
    faults = site.faults()
    found = [fault for fault in faults if fault.kind == bad.kind]
    assert found, f"no {bad.kind!r} among: " + "\n".join(map(str, faults))
    file, text = bad.at
    # The line that the message names must hold the text; a long text may have been folded by Markdown.
    places = {(fault.file, fault.line) for fault in found}
    assert (file, site.line(text, file) if text else 0) in places, "\n".join(map(str, found))
    said = "\n".join(str(fault) for fault in found)
    assert [part for part in bad.says if part not in said] == [], said


def test_the_good_site_passes(site: TinySite) -> None:
    """If the good site had a fault of its own, none of the bad ones would prove anything."""
    assert site.faults() == []


def test_all_faults_at_once(site: TinySite) -> None:
    """An editor who mends one fault at a time would have to build once for each."""
    site.edit(CODE, "LEGS = 4", "LEGS = 5")
    site.edit(PAGE, END, "A cat has 12,345 lives. [[= number('nothing(1)') =]] [[= cited('no.one') =]]")
    site.edit("docs/typed_numbers.toml", 'reason = "a name"', 'reason = ""')
    kinds = {fault.kind for fault in site.faults()}
    assert kinds >= {
        "changed figure",
        "changed output",
        "typed number",
        "undefined name",
        "unknown source",
        "faulty allow-list",
    }


def test_an_endless_block_is_stopped(site: TinySite) -> None:
    """A loop that never ends would hang every build, and the editor's server with it."""
    site.edit("mkdocs.yml", "seconds: 60", "seconds: 3")
    site.edit(PAGE, 'print(legs(3), "legs")', "while True: pass")
    (fault,) = (fault for fault in site.faults() if fault.kind == "failing example")
    assert "did not end within 3 seconds" in fault.what


def test_endless_figures_do_not_add_up(site: TinySite) -> None:
    """With a loop in a function that a hundred figures use, the build would take a hundred time limits."""
    site.edit("mkdocs.yml", "seconds: 60", "seconds: 3")
    site.edit(CODE, "    return cats * LEGS", "    while True:\n        pass")
    site.edit(PAGE, END, " ".join(f'[[= number("legs({n})") =]]' for n in range(100)))
    failing = {fault.what for fault in site.faults() if fault.kind == "failing expression"}
    assert sum("did not end" in what for what in failing) == 3
    assert sum("not run" in what for what in failing) >= 97


def test_code_that_hangs_while_it_is_imported(site: TinySite) -> None:
    """A loop at the top of a module would never let the worker get ready."""
    site.edit("mkdocs.yml", "seconds: 60", "seconds: 3")
    site.edit(CODE, "LEGS = 4", "LEGS = 4\nwhile True:\n    pass")
    (fault, *_) = (fault for fault in site.faults() if fault.kind == "failing expression")
    assert "cannot be imported" in fault.what


def test_what_changes_can_be_accepted() -> None:
    """`accept` mends these kinds; one that is misspelt here would block it for good."""
    kinds = {bad.kind for bad in BAD + HOSTILE}
    assert gate.CHANGES - {"new figure"} <= kinds


def test_a_check_that_fails_leaves_nothing_either(site: TinySite) -> None:
    """A fault of the check itself would leave the pages that nobody checked."""
    site.path("docs/x.svg").write_bytes(b"<svg><text>\xe9 9</text></svg>")
    (fault,) = site.faults()
    assert (fault.file, fault.kind) == ("docs/x.svg", "typed number")
