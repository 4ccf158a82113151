"""The reference: every figure leads to its code and its test, and every test and every module has its page."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from live_numbers import docstrings, listing, places
from live_numbers.faults import Fault
from live_numbers.project import Project
from tests.test_site import modules
from tests.tiny_site import MKDOCS, PAGE, TESTS, TinySite

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"

PLUGIN = f"""\
  - mkdocstrings:
      enable_inventory: false
      custom_templates: {ROOT / "docs" / "live_numbers" / "templates"}
      handlers:
        python:
          paths: [.]
          options:
            extensions: [live_numbers.docstrings]
            allow_inspection: false
            filters: public
            show_if_no_docstring: true
            separate_signature: true
"""
STUBS = {
    "docs/reference/api/cats.md": '[[= api("cats") =]]\n',
    "docs/reference/api/index.md": "# Code\n\n[[= all_code() =]]\n",
    "docs/reference/tests/cats.md": '[[= tests("cats") =]]\n',
    "docs/reference/tests/others.md": '[[= tests("others") =]]\n',
    "docs/reference/tests/index.md": "# Tests\n\n[[= all_tests() =]]\n",
    "docs/reference/numbers.md": "# Numbers\n\n[[= all_numbers() =]]\n",
    "docs/reference/sources.md": "# Sources\n\n[[= all_sources() =]]\n",
}
CODE = '''\
"""Legs of 4 kinds."""

LEGS = 4


def legs(cats: int) -> int:
    """Count the legs of 3 cats.

    Args:
        cats: How many, say 3.

    >>> legs(3)
    12
    """
    return cats * LEGS


# region: tails
def tails(cats):
    """Count the tails."""
    return [1] * cats
# endregion


def _hidden():
    """Nobody sees this."""


class Cat:
    """A cat of 9 lives."""

    def says(self):
        """Say it."""
        return "meow"
'''
MORE_TESTS = '''

class TestMore:
    def test_more(self):
        """One of 2 cats would be lost.

        Nobody reads this.
        """
        assert 4 == LEGS  # <b>
'''


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny site with a reference, accepted; to be copied, not changed."""
    site = TinySite(tmp_path_factory.mktemp("whole"), accept=False)
    settings = MKDOCS.replace("{name: null, custom_dir: theme}", "{name: material, font: false}")
    settings = settings.replace("  - markdown-exec", f"{PLUGIN}  - markdown-exec")
    site.write("mkdocs.yml", settings)
    for name, content in {**STUBS, "lesson_code/cats.py": CODE, "tests/test_cats.py": TESTS + MORE_TESTS}.items():
        site.write(name, content)
    site.write("tests/test_cats_at_night.py", "def test_grey():\n    assert True\n")
    site.write("tests/of/test_dogs.py", 'async def test_dogs():\n    """Nobody would bark."""\n')
    assert site.run("accept") == 0
    return site.root


@pytest.fixture
def site(whole: Path, tmp_path: Path) -> TinySite:
    """A copy of it, to be broken."""
    return TinySite(tmp_path / "site", copy_of=whole)


@pytest.fixture(scope="module")
def published(whole: Path) -> Path:
    """The same, published."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    build(load_config(str(whole / "mkdocs.yml"), site_dir=str(whole / "site")))
    return whole / "site"


def article(published: Path, page: str) -> html.HtmlElement:
    """What a page of the site says."""
    return html.parse(str(published / page / "index.html")).find(".//article")


def links(element: html.HtmlElement) -> dict[str, str]:
    """Where the links of an element lead, by what they say."""
    return {link.text_content(): link.get("href") for link in element.iter("a")}


# The lists of a page.


def test_a_figure_leads_to_its_code_and_its_test(published: Path) -> None:
    """The reader would be told a name and left to search for what it means."""
    page = article(published, "lessons/cats")
    (entry,) = page.xpath("//dt[@id='number-1']/following-sibling::dd[1]")
    assert "legs(3)computed by cats.legsasserted with a value worked out by hand as 3 * 4 in " in entry.text_content()
    assert links(entry) == {
        "cats.legs": "../../reference/api/cats/#lesson_code.cats.legs",
        "test_cats.py::test_legs": "../../reference/tests/cats/#test_cats.test_legs",
    }


def test_quotes_and_inputs_are_in_the_lists(published: Path) -> None:
    """The panel of a cited figure, or of an input, would have nothing to say."""
    page = article(published, "lessons/cats")
    (quote,) = page.xpath("//*[@id='source-vet']//li[@data-keys='vet.legs']")
    assert quote.text_content() == "A cat has 4 legs."
    (inputs,) = page.xpath("//dt[@id='number-inputs']")
    assert inputs.text_content() == "3, 5000"
    assert inputs.getnext().text_content().startswith("chosen by the author")


def test_code_on_a_page_leads_to_the_reference(published: Path) -> None:
    """The name above a piece of code would be a dead end."""
    (name,) = article(published, "lessons/cats").find_class("filename")
    assert links(name) == {"lesson_code/cats.py": "../../reference/api/cats/#lesson_code.cats.legs"}


def test_without_a_reference_nothing_leads_there(good: Path, tmp_path: Path) -> None:
    """A site that has no reference would be full of broken links."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    TinySite(tmp_path / "site", copy_of=good)
    build(load_config(str(tmp_path / "site" / "mkdocs.yml"), site_dir=str(tmp_path / "published")))
    text = (tmp_path / "published" / "lessons" / "cats" / "index.html").read_text(encoding="utf-8")
    assert "test_cats.py::test_legs" in text
    assert "reference/" not in text


# The pages.


def test_the_code_is_shown_from_its_docstrings(published: Path) -> None:
    """A function, its words, its signature, its code or its example would be missing, or what is private be shown."""
    page = article(published, "reference/api/cats")
    shown = {element.get("id") for element in page.xpath("//*[starts-with(@id, 'lesson_code.')]")}
    names = ["LEGS", "legs", "tails", "Cat", "Cat.says"]
    assert shown == {"lesson_code.cats", *(f"lesson_code.cats.{name}" for name in names)}
    text = page.text_content()
    assert "Legs of 4 kinds." in text
    assert "LEGS = 4" in text
    assert "def legs(cats: int) -> int:" in text
    assert "How many, say 3." in text
    assert "return cats * LEGS" in text
    assert 'return "meow"' in text
    assert "Nobody sees this" not in text
    assert ">>> legs(3)\n12" in [pre.text_content().strip() for pre in page.iter("pre")]


def test_tests_are_shown_whole_and_each_can_be_linked(published: Path, whole: Path) -> None:
    """The page would show other tests than those that run, or a link to one would lead to the top of a long page."""
    page = article(published, "reference/tests/cats")
    sources = [pre.text_content() for pre in page.iter("pre")]
    assert sources == [(whole / "tests" / f"{name}.py").read_text() for name in ("test_cats", "test_cats_at_night")]
    (test,) = page.xpath("//*[@id='test_cats.TestMore.test_more']")
    assert test.text_content().startswith("    def test_more(self):")
    assert test.text_content().endswith("assert 4 == LEGS  # <b>\n")
    contents = page.find_class("ln-contents")[0]
    assert links(contents) == {
        "test_legs": "#test_cats.test_legs",
        "test_more": "#test_cats.TestMore.test_more",
        "test_grey": "#test_cats_at_night.test_grey",
    }
    assert "One of 2 cats would be lost." in contents.text_content()
    assert "Nobody reads this" not in contents.text_content()


def test_every_test_is_somewhere(published: Path) -> None:
    """A test of no lesson would be on no page."""
    assert "Nobody would bark." in article(published, "reference/tests/others").text_content()
    index = article(published, "reference/tests")
    assert links(index)["cats"] == "cats/"
    assert "cats: 3 tests in 2 files" in index.text_content()
    assert "others: 1 tests in 1 file" in index.text_content()
    assert "cats: Legs of 4 kinds." in article(published, "reference/api").text_content()


def test_all_numbers_and_all_sources(published: Path) -> None:
    """A figure of a page would be missing in the list of all, or not lead back to its page."""
    page, numbers = article(published, "lessons/cats"), article(published, "reference/numbers")
    assert links(numbers)["Legs"] == "../../lessons/cats/"
    expressions = page.xpath("//dd/*[1][self::code]/text()")
    assert len(expressions) > 2
    assert numbers.xpath("//dd/*[1][self::code]/text()") == expressions
    assert links(numbers.find(".//dt"))["12"] == "../../lessons/cats/#number-1"
    assert links(numbers.find(".//dd"))["cats.legs"] == "../api/cats/#lesson_code.cats.legs"
    sources = article(published, "reference/sources")
    assert "A cat has 4 legs." in sources.text_content()
    assert links(sources)["Legs"] == "../../lessons/cats/#source-vet"


# What the gate says of them.


def faults_of(site: TinySite, kind: str) -> list[Fault]:
    """The faults of a kind; others there may be."""
    faults = site.faults()
    found = [fault for fault in faults if fault.kind == kind]
    assert found, "\n".join(map(str, faults))
    return found


def test_the_good_reference_passes(site: TinySite) -> None:
    """Digits of docstrings, signatures and tests would be taken for typed ones, on a site in which nothing is wrong."""
    assert site.faults() == []


STUB = "docs/reference/api/cats.md"
FORGED = '<div class="doc doc-object doc-module">It has 77 lives</div>'


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (STUB, "It has 77 lives."),
        (STUB, FORGED),
        (STUB, "## 77 lives"),
        ("docs/reference/tests/cats.md", "It has 77 lives."),
        ("docs/reference/tests/cats.md", f'<div data-list="">{FORGED}</div>'),
        ("docs/reference/numbers.md", "It has 77 lives."),
        ("docs/reference/sources.md", FORGED),
        ("docs/lessons/cats.md", FORGED),
        ("docs/lessons/cats.md", "::: lesson_code.cats"),
    ],
)
def test_a_typed_number_on_a_page_of_the_reference_fails(site: TinySite, page: str, text: str) -> None:
    """An author could type any figure there, or dress it as the machinery's."""
    site.write(page, f"{site.path(page).read_text()}\n\n{text}\n")
    kinds = ("typed number", "forged list", "unexplained code block")
    assert [fault for fault in site.faults() if fault.kind in kinds and fault.file == page]


@pytest.mark.parametrize("page", ["docs/lessons/cats.md", "docs/reference/tests/cats.md"])
def test_code_that_claims_to_be_tests_fails(site: TinySite, page: str) -> None:
    """Anything could be shown as a test that runs."""
    forged = '<div class="ln-tests" data-code="tests/test_cats.py"><pre><code>assert 77 == 77</code></pre></div>'
    site.write(page, f"{site.path(page).read_text()}\n\n{forged}\n")
    assert faults_of(site, "forged code")[0].file == page


def test_raw_elements_in_a_docstring_fail(site: TinySite) -> None:
    """A script in a docstring would be let out with the rest of it."""
    site.edit("lesson_code/cats.py", "Count the tails.", "Count the tails.\n\n    <script>x = 77</script>")
    assert "<script>" in faults_of(site, "raw element")[0].what


def test_a_reference_that_lacks_what_is_linked_fails(site: TinySite) -> None:
    """A panel would lead its reader to nothing."""
    site.write("docs/reference/tests/cats.md", "# None\n")
    faults = faults_of(site, "broken link")
    assert {fault.file for fault in faults} == {"docs/lessons/cats.md", "docs/reference/numbers.md"}
    assert {fault.what for fault in faults} == {"docs/reference/tests/cats.md does not show test_cats.test_legs"}


def test_a_page_behind_the_list_of_all_numbers_fails(site: TinySite) -> None:
    """Its figures would be missing there, and nobody would know."""
    site.write("docs/zoo/lions.md", PAGE.replace('id="count"', 'id="lions"').replace("---\n", "---\ntopic: cats\n", 1))
    late = faults_of(site, "late page")
    assert {fault.file for fault in late} == {"docs/zoo/lions.md"}
    assert {fault.what.partition("(")[0] for fault in late} == {"all_numbers", "all_sources"}


@pytest.mark.parametrize(
    ("page", "old", "new", "kind"),
    [
        (STUB, "cats", "dogs", "missing module"),
        (STUB, "cats", "../lesson_code", "missing module"),
        ("docs/reference/tests/cats.md", "cats", "dogs", "missing tests"),
        ("lesson_code/cats.py", "def tails(", "def tails(:", "broken code"),
        (STUB, 'api("cats")', "api()", "faulty call"),
    ],
)
def test_a_stub_for_nothing_fails(site: TinySite, page: str, old: str, new: str, kind: str) -> None:
    """A page of the reference would be empty, or the build would end in an error of a program."""
    site.edit(page, old, new)
    assert faults_of(site, kind)


def test_a_doubtful_docstring_is_said_again_and_again(site: TinySite, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a site is served, what is kept of a module would hide what the builder warns of."""
    monkeypatch.setattr(docstrings, "_rendered", {})
    site.edit("lesson_code/cats.py", "cats: How many", "dogs: How many")
    for _ in range(2):
        (*_, fault) = sorted(faults_of(site, "warning of the builder"))
        assert (fault.file, fault.line) == ("lesson_code/cats.py", site.line("dogs: How many", fault.file))
        assert "'dogs' does not appear in the function signature" in fault.what
    assert docstrings._rendered == {}


def test_a_module_is_rendered_once(site: TinySite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each build of a server would render all code again; or it would show old code."""
    monkeypatch.setattr(docstrings, "_rendered", {})
    assert site.faults() == []
    assert len(docstrings._rendered) == 1
    ((first, _),) = docstrings._rendered.values()
    assert site.faults() == []
    assert len(docstrings._rendered) == 1
    site.edit("lesson_code/cats.py", "Count the tails.", "Count all tails.")
    assert site.faults() == []
    _, (second, _) = docstrings._rendered.values()
    assert ("Count the tails" in first, "Count all tails" in second) == (True, True)


# Where things are.


@pytest.mark.parametrize(
    ("name", "fragment"),
    [
        ("lesson_code.cats.legs", "lesson_code.cats.legs"),
        ("lesson_code.cats.LEGS.bit_length", "lesson_code.cats.LEGS"),
        ("lesson_code.cats.Cat.says", "lesson_code.cats.Cat.says"),
        ("lesson_code.cats.Cat.barks", "lesson_code.cats.Cat"),
        ("lesson_code.cats._hidden", "lesson_code.cats"),
        ("lesson_code.cats", "lesson_code.cats"),
    ],
)
def test_where_code_is(whole: Path, name: str, fragment: str) -> None:
    """A link would lead past what it names."""
    place = places.of_code(whole / "lesson_code", name)
    assert place == ("reference/api/cats.md", fragment)


def test_where_nothing_is(whole: Path) -> None:
    """A name that means nothing would be linked to something."""
    assert places.of_code(whole / "lesson_code", "lesson_code.dogs.legs") is None
    assert places.of_code(whole / "lesson_code", "lesson_code") is None
    assert places.of_test("tests/test_dogs.py::test_x", {}) is None


def test_the_page_of_a_file_of_tests(tmp_path: Path) -> None:
    """The tests of a folder, or of a part of a topic, would fill the page of all others."""
    files = ["test_cats.py", "test_cats_night.py", "test_catsup.py", "zoo/test_lion.py", "zoo/test_cats.py"]
    for name in files:
        (tmp_path / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests" / name).touch()
    project = Project(tmp_path)
    pages = [f"reference/tests/{name}.md" for name in ("cats", "zoo", "cats_night", "others", "index")]
    found = places.test_files(project, pages)
    assert {
        "cats": ["tests/test_cats.py"],
        "cats_night": ["tests/test_cats_night.py"],
        "zoo": ["tests/zoo/test_cats.py", "tests/zoo/test_lion.py"],
        "others": ["tests/test_catsup.py"],
    } == {topic: [project.name(path) for path in paths] for topic, paths in found.items()}


@pytest.mark.parametrize(
    ("name", "fragment"),
    [
        ("legs", "lesson_code.cats.legs"),
        ("cats:tails", "lesson_code.cats"),
        ("cats.Cat", "lesson_code.cats.Cat"),
        ("lesson_code.cats.legs", "lesson_code.cats.legs"),
    ],
)
def test_where_shown_code_is(whole: Path, name: str, fragment: str) -> None:
    """The name above a piece of code would lead elsewhere."""
    place = places.of_shown(whole / "lesson_code", "cats", name)
    assert place == ("reference/api/cats.md", fragment)


# Code as HTML.


def text_of(marked: str) -> str:
    """What a reader sees of it."""
    return unescape(re.sub("<[^>]*>", "", marked))


FILES = sorted([*ROOT.glob("tests/**/*.py"), *ROOT.glob("lesson_code/**/*.py"), *ROOT.glob("docs/live_numbers/*.py")])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_texts_and_comments_are_found_as_python_finds_them(path: Path) -> None:
    """A quotation mark in a comment, say, would turn the rest of a file into a text."""
    source = path.read_text(encoding="utf-8")
    marked = listing.marked(source)
    assert text_of(marked) == source
    for kind, names in {"s": {"STRING"}, "c1": {"COMMENT"}}.items():
        found = [text_of(part) for part in re.findall(rf'<span class="{kind}">(.*?)</span>', marked, re.S)]
        assert found == list(strings(source, names))


def strings(source: str, names: set[str]) -> list[str]:
    """The tokens of some kinds; an f-string, which newer Pythons take apart, is put together again."""
    lines, found, depth, start = source.splitlines(keepends=True), [], 0, (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        name = tokenize.tok_name[token.type]
        if name == "FSTRING_START":
            depth, start = depth + 1, start if depth else token.start
        elif name == "FSTRING_END":
            depth -= 1
            if not depth and "STRING" in names:
                (row, column), (last, end) = start, token.end
                parts = lines[row - 1 : last]
                parts[-1] = parts[-1][:end]
                parts[0] = parts[0][column:]
                found.append("".join(parts))
        elif not depth and name in names:
            found.append(token.string)
    return found


@given(st.text(alphabet="'\"\\#\n@<&>abdefr 1_.()=", max_size=60))
def test_no_code_is_changed_by_its_marks(source: str) -> None:
    """Of some odd piece of code a reader would see other characters than Python reads."""
    assert text_of(listing.marked(source)) == source


def test_what_is_marked() -> None:
    """Code would be grey, or coloured as what it is not."""
    marked = listing.marked('@mark.x\ndef f(a: int = 1_0) -> None:\n    return a @ b  # "no"\n')
    spans = re.findall(r'<span class="(\w+)">([^<]*)</span>', marked)
    assert spans == [
        ("nd", "@mark.x"),
        ("k", "def"),
        ("nf", "f"),
        ("mi", "1_0"),
        ("kc", "None"),
        ("k", "return"),
        ("c1", '# "no"'),
    ]


# This site's own reference.


def test_every_module_has_its_pages() -> None:
    """A lesson would have no page for its code or its tests, so that its figures led nowhere."""
    assert {path.stem for path in (REFERENCE / "api").glob("*.md")} == modules() | {"index"}
    # Tests of no lesson may have a page too; one for which there is no test is a fault of the build.
    assert {path.stem for path in (REFERENCE / "tests").glob("*.md")} >= modules() | {"index", "others"}


@pytest.mark.parametrize("path", sorted(REFERENCE.glob("*/*.md")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_stubs_are_stubs(path: Path) -> None:
    """A page of the reference would name another topic than its own, or fill the search with its words."""
    content = path.read_text(encoding="utf-8")
    assert "search: { exclude: true }" in content
    macro = {"api": "api", "tests": "tests"}[path.parent.name]
    if path.stem != "index":
        assert content.endswith(f'---\n\n[[= {macro}("{path.stem}") =]]\n')


def test_every_function_has_a_docstring() -> None:
    """The reference would show a bare name."""
    for path in (ROOT / "lesson_code").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and node in tree.body:
                assert ast.get_docstring(node), f"{path.name}: {node.name}"
