"""One build: what the pages asked for, what they were given, and what went wrong on the way.

The flow of one figure: a page calls a macro; `Build.number` gets the value from `evaluate`, the written form from
`forms`, remembers both, and leaves a token in the page; `tokens` puts the HTML there; `gate` compares all that was
remembered with the ledger, the tests and the rendered page.
"""

from __future__ import annotations

import contextlib
import difflib
import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from mkdocs.utils import get_relative_url
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Token

from live_numbers import evidence, expressions, forms, ledger, lint, places, shown_code, sources, typed
from live_numbers.evaluate import Evaluator, Outcome
from live_numbers.faults import Fault
from live_numbers.forms import Scalar, Value
from live_numbers.project import Project
from live_numbers.takeaway import Takeaway
from live_numbers.tokens import TOKEN, Piece, tokens

FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*(?:\{\s*\.)?(?P<language>\w*)[^`\n]*\bexec=[^`\n]*", re.M)


@dataclass(frozen=True)
class Figure:
    """One figure as a page quotes it.

    Attributes:
        kind: `computed` (one value), `series` (the values of a picture), `settings` (of an explorer, all of them),
            `printed` (output, texts of a picture) or `cited`.
        page: the page's path below `docs/`.
        line: where it stands there.
        name: its name in the ledger: the expression, or `output: ID`, `picture: ID`, `explorer: ID, RESULT`.
        code: what was evaluated: the expression with all names written out, or the block.
        value: the exact value; of settings the expression, and what the values amount to.
        written: as the page writes it; empty for series and printed lines.
        sources: the keys of the cited figures it rests on.
    """

    kind: str
    page: str
    line: int
    name: str
    code: str
    value: Value
    written: str = ""
    sources: tuple[str, ...] = ()

    @property
    def expression(self) -> str:
        """What a reader would type."""
        return str(self.value[0]) if self.kind == "settings" and isinstance(self.value, list) else self.name


ASSERTED = frozenset({"computed", "series", "settings"})
"""The kinds of figures that a test must assert."""


@dataclass(frozen=True)
class Given:
    """A number that the author chose as the input of an expression on the page."""

    page: str
    line: int
    value: Scalar


@dataclass
class Page:
    """A page while it is built.

    Attributes:
        uri: its path below `docs/`.
        source: the whole file.
        body: what of it is Markdown: all but the front matter.
        offset: the lines before the body.
        topic: the module of `lesson_code` in whose namespace its expressions stand; may be empty.
        names: what those expressions may use, and where it comes from.
        finished: whether its macros ran to the end.
        failed: the names in the ledger of what could not be computed.
        shown: what the machinery put on it.
        cited: the figures of sources that it rests on.
        axes: what columns and curves of it run over.
        title: as menus have it.
    """

    uri: str
    source: str = ""
    body: str = ""
    offset: int = 0
    topic: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    finished: bool = False
    failed: set[str] = field(default_factory=set)
    shown: lint.Shown = field(default_factory=lint.Shown)
    cited: list[str] = field(default_factory=list)
    axes: list[str] = field(default_factory=list)
    title: str = ""

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the file."""
        return self.source.splitlines()

    def line_of(self, text: str) -> int:
        """The line of the file on which a text first stands; 0 where it does not."""
        at = self.source.find(text)
        return self.source.count("\n", 0, at) + 1 if at >= 0 else 0


class Build:
    """Everything that one run of the builder learns.

    Attributes:
        urls: the address of every page, below the site's.
        links: what the machinery linked: the page that has the link, and where it leads.
        in_reference: the pages that the lists of all numbers and of all sources took in, by the macro.
    """

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        """Read the sources, the allow-list, the ledger and the tests; faults in them are faults of the build."""
        self.project = project
        self.evaluator = evaluator
        self.takeaway = Takeaway(project, evaluator.code)
        self.faults: list[Fault] = []
        self.figures: list[Figure] = []
        self.givens: list[Given] = []
        self.pages: dict[str, Page] = {}
        self.page = Page("")
        self.navigation: list[str] = []
        self.files: dict[str, str] = {}
        self.urls: dict[str, str] = {}
        self.links: set[tuple[str, places.Place]] = set()
        self.in_reference: dict[str, frozenset[str]] = {}
        self.sources, source_faults = sources.read(project)
        self.allow, allow_faults = typed.read_allow_list(project)
        self.faults += source_faults + allow_faults
        self.accepted: ledger.Pages | None = None
        try:
            self.accepted = ledger.read(project.ledger)
        except ledger.LedgerError as error:
            fix = "restore it from version control, or delete it and run: live-numbers accept"
            self.faults.append(Fault(project.name(project.ledger), 0, "unreadable ledger", str(error), fix))
        self.asserted: dict[str, list[evidence.Assertion]] | None = None
        try:
            found = evidence.assertions(project.tests, project.lessons)
        except (ValueError, OSError) as error:
            self.faults.append(self._broken_file(error))
        else:
            self.asserted = {}
            for assertion in found:
                self.asserted.setdefault(assertion.expression, []).append(assertion)
        self._names: dict[str, Mapping[str, str]] = {}
        self._resolved: dict[tuple[str, str], expressions.Resolved] = {}
        self._follow = cache(partial(expressions.follow, lesson_root=project.lessons))

    # Pages

    def begin(self, uri: str, source: str, body: str, topic: object) -> None:
        """Start a page; see `Page` for what it is made of."""
        offset = source[: source.find(body)].count("\n") if body and body in source else 0
        self.page = self.pages[uri] = Page(uri, source, body, offset, topic if isinstance(topic, str) else "")
        if not isinstance(topic, str):
            self.fault(self.page.line_of("topic:"), "faulty topic", f"{topic!r} is no name of a module")
        elif topic and not self._has_module(topic):
            what = f"there is no lesson_code/{topic.replace('.', '/')}.py"
            fix = "create it, or name another module in the front matter: `topic: NAME`"
            self.fault(self.page.line_of("topic:"), "missing module", what, fix)
        else:
            try:
                self.page.names = self._page_names(topic)
            except (ValueError, OSError) as error:
                self.faults.append(self._broken_file(error))
        if body.lstrip().startswith("---\n"):
            self.fault(1, "broken front matter", "what stands between the --- lines is no YAML", "mend it")
        if stray := TOKEN.search(source):
            line = source.count("\n", 0, stray.start()) + 1
            self.fault(line, "stray character", f"{stray[0]!r} is for private use, and is used here", "take it out")
        for fence in FENCE.finditer(source):
            line = source.count("\n", 0, fence.start()) + 1
            if fence["language"] != "python":
                what = f"only python blocks are executed here, not {fence['language']!r}"
                self.fault(line, "unsupported example", what, "take exec away and give it a data-reason")
            elif not re.search(r"""\bid=(?:"[^"]+"|'[^']+')""", fence[0]):
                fix = 'give the block an id, such as id="worked-example"'
                self.fault(line, "unnamed example", fence[0].strip(), fix)

    def _has_module(self, topic: str) -> bool:
        base = self.project.lessons.joinpath(*topic.split("."))
        return base.with_suffix(".py").is_file() or (base / "__init__.py").is_file()

    def _broken_file(self, error: Exception) -> Fault:
        """A file that cannot be read as Python, as a fault of that file where it is known."""
        place = re.match(r"(?P<file>.+?\.py):(?P<line>\d+|None): (?P<what>.*)", str(error), re.S)
        if place is None:
            return Fault("tests", 0, "broken code", str(error), "mend the file")
        file, line = self.project.name(Path(place["file"])), int(place["line"].replace("None", "0"))
        return Fault(file, line, "broken code", place["what"], "mend it; the pages follow")

    def _page_names(self, topic: str) -> Mapping[str, str]:
        if topic not in self._names:
            self._names[topic] = expressions.page_names(self.project.lessons, topic)
        return self._names[topic]

    def fault(self, line: int, kind: str, what: str, fix: str = "") -> None:
        """Record a fault of the present page."""
        self.faults.append(Fault(self.project.page(self.page.uri), line, kind, what, fix))

    def failed(self, line: int, kind: str, what: str, fix: str = "") -> str:
        """Record a fault and leave it in the page, where the editor sees it."""
        self.fault(line, kind, what, fix)
        return self._in_place(f"{kind}: {what}")

    def _in_place(self, said: str) -> str:
        """The token of a text that stands where something failed."""
        self.page.shown.faults.add(" ".join(said.split()))
        return tokens.put(Piece(f'<strong class="ln-fault" role="alert">{html.escape(said)}</strong>', said))

    # Links and lists that the machinery writes

    def link(self, place: places.Place | None, content: str) -> str:
        """A link to a place around a piece of HTML; that alone where the site has no such page."""
        if place is None or place.uri not in self.urls:
            return content
        self.links.add((self.page.uri, place))
        here = place.uri == self.page.uri
        address = "" if here else get_relative_url(self.urls[place.uri], self.urls[self.page.uri])
        address += f"#{place.fragment}" if place.fragment else ""
        return f'<a href="{html.escape(address)}">{content}</a>'

    @cached_property
    def test_pages(self) -> dict[str, str]:
        """The page of the reference that shows each file of tests."""
        files = places.test_files(self.project, self.urls)
        return {self.project.name(path): f"{places.TESTS}{topic}.md" for topic in files for path in files[topic]}

    def listed(self, content: str) -> str:
        """The token of a list; its text is remembered, so that it may stand on the page as it is."""
        self.page.shown.lists.add(lint.visible_text(content))
        return tokens.put(Piece(f'<div data-list="">{content}</div>', ""))

    # What the macros do

    def ahead(self, wanted: Iterable[object]) -> None:
        """Have the worker begin with the figures that the page is about to ask for."""
        codes = []
        for expression in wanted:
            with contextlib.suppress(ValueError):  # it will be reported when it is its turn
                found = self._resolve(str(expression))
                if not found.unknown:
                    codes.append(found.canonical)
        self.evaluator.ahead(codes)

    def number(self, line: int, expression: str, form: str = "", source: str | Sequence[str] = ()) -> str:
        """A computed figure; see `live_numbers.macros`."""
        keys = (source,) if isinstance(source, str) and source else tuple(source)
        figure = self._computed(line, "computed", expression, keys)
        if isinstance(figure, str):
            return figure
        try:
            written = forms.write(figure.value, form)
        except ValueError as error:
            self.page.failed.add(figure.name)
            return self.failed(line, "unwritable figure", f"{figure.name}: {error}")
        self.figures.append(replace(figure, written=written))
        return self._figure_token("data-expr", figure.name, figure.value, written, keys)

    def _computed(self, line: int, kind: str, expression: str, keys: tuple[str, ...] = ()) -> Figure | str:
        """The value of an expression of the page, or the token of the fault."""
        try:
            found = self._resolve(expression)
        except ValueError as error:
            return self.failed(line, "faulty expression", f"{expression}: {error}")
        name = found.normal
        if found.unknown:
            self.page.failed.add(name)
            near = difflib.get_close_matches(min(found.unknown), self.page.names, n=1)
            hint = f"did you mean {near[0]}?" if near else f"the page's module is {self.page.topic or 'none'}"
            return self.failed(line, "undefined name", f"{name}: {', '.join(sorted(found.unknown))}", hint)
        if not keys and not found.uses_lessons:
            what = f"{name} uses nothing of lesson_code and names no source"
            return self.failed(line, "typed figure", what, "compute it, cite it, or mark an input with given(...)")
        outcome = self.evaluator.figure(found.canonical)
        if outcome.error or outcome.value is None:
            self.page.failed.add(name)
            return self._not_computed(line, "failing expression", name, outcome)
        for key in keys:
            try:
                _, cited = sources.find(self.sources, key)
            except ValueError as error:
                return self.failed(line, "unknown source", f"{expression}: {error}")
            if cited.value != outcome.value and cited.value not in expressions.literals(name):
                what = f"{name} neither is nor contains {cited.value}, which {key} says"
                return self.failed(line, "wrong source", what, "correct the expression or the source")
            self._cite(line, cited)
        return Figure(kind, self.page.uri, line, name, found.canonical, outcome.value, sources=keys)

    def _not_computed(self, line: int, kind: str, name: str, outcome: Outcome) -> str:
        """The token of something that failed; a module that cannot be imported is one fault of that module."""
        if outcome.broken is None:
            return self.failed(line, kind, f"{name}: {outcome.error}")
        broken = outcome.broken
        self.faults.append(Fault(broken.file, broken.line, "broken code", broken.what, "mend it; the pages follow"))
        return self._in_place(f"{name}: {outcome.error}")

    def _resolve(self, expression: str) -> expressions.Resolved:
        """An expression of the page, looked up in the namespace of its topic; worked out once."""
        key = (self.page.topic, expression)
        if key not in self._resolved:
            self._resolved[key] = expressions.resolved(expression, self.page.names, self._follow)
        return self._resolved[key]

    def _figure_token(self, attribute: str, name: str, value: Value, written: str, keys: tuple[str, ...] = ()) -> str:
        self.page.shown.figures.add((attribute, name, str(value), written))
        kind = "ln ln-cited" if keys or attribute == "data-cited" else "ln"
        note = f' data-source="{html.escape(" ".join(keys))}"' if keys else ""
        piece = (
            f'<data class="{kind}" value="{html.escape(str(value))}" {attribute}="{html.escape(name)}"{note}>'
            f"{html.escape(written)}</data>"
        )
        return tokens.put(Piece(piece, written, name))

    def cited(self, line: int, key: str, form: str | None = None) -> str:
        """A figure of a source, written as the source writes it unless a form is given."""
        try:
            _, figure = sources.find(self.sources, key)
            written = figure.written if form is None else forms.write(figure.value, form)
        except ValueError as error:
            return self.failed(line, "unknown source", f"cited({key!r}): {error}")
        self._cite(line, figure)
        return self._figure_token("data-cited", key, figure.value, written)

    def _cite(self, line: int, figure: sources.CitedFigure) -> None:
        """Remember that the page rests on a figure of a source; the ledger keeps it as it keeps computed ones."""
        if figure.key not in self.page.cited:
            self.page.cited.append(figure.key)
            name = f"cited: {figure.key}"
            self.figures.append(Figure("cited", self.page.uri, line, name, "", figure.value, figure.written))

    def given(self, line: int, value: Scalar, form: str = "") -> str:
        """An input that the author chose; an expression or a block of the page must contain it."""
        try:
            if isinstance(value, bool) or not isinstance(value, int | float | str):
                raise ValueError("an input is a number or a text")
            if isinstance(value, int) and abs(value) >= 10**18:
                return self.failed(line, "unwritable figure", "given(...): the number is too long to be read")
            written = forms.write(value, form)
        except ValueError as error:
            return self.failed(line, "unwritable figure", f"given({value!r}): {error}")
        self.givens.append(Given(self.page.uri, line, value))
        return self._figure_token("data-given", str(value), value, written)

    def code(self, line: int, name: str) -> str:
        """Code of `lesson_code`, by name; examples in its docstrings must be true."""
        try:
            path, source = shown_code.find(self.project.lessons, self.page.topic, name)
        except (shown_code.MissingCodeError, SyntaxError, UnicodeDecodeError) as error:
            return self.failed(line, "missing code", str(error), "correct the name, or the region's comments")
        file = self.project.name(path)
        if ">>> " in source:
            module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            outcome = self.evaluator.doctest(module)
            if outcome.error and outcome.broken is None:
                place = self.project.name(path)
                found = re.search(r"line (\d+)", outcome.error)
                line = int(found[1]) if found else 0
                fault = Fault(place, line, "false docstring", outcome.error, "correct the example in the docstring")
                self.faults.append(fault)
        self.page.shown.codes[name] = source
        head = '<span class="filename">'
        linked = self.link(places.of_shown(self.project.lessons, self.page.topic, name), file)
        shown = highlighted(source, file).replace(f"{head}{file}", f"{head}{linked}", 1)
        return tokens.put(Piece(f'<div class="ln-code" data-code="{html.escape(name)}">{shown}</div>', file))

    def block(self, block_id: str, code: str) -> Outcome:
        """Run an executed block of the page and remember what it printed."""
        line = self.page.line_of(f'id="{block_id}"') or self.page.line_of(f"id='{block_id}'")
        name = f"output: {block_id}"
        outcome = self.evaluator.block(code)
        if block_id in self.page.shown.blocks:
            self.fault(line, "unnamed example", f"two blocks are called {block_id!r}", "give each an id of its own")
        self.page.shown.blocks[block_id] = (code, outcome.error or str(outcome.value or ""))
        if outcome.error:
            self.page.failed.add(name)
            self.fault(line, "failing example", f"{block_id}: {outcome.error}", "mend the block, or the code it runs")
        else:
            lines: list[Value] = [*str(outcome.value).rstrip("\n").split("\n")]
            self.figures.append(Figure("printed", self.page.uri, line, name, code, lines))
        return outcome

    def series(self, line: int, expression: str) -> Figure | str:
        """The values of a curve or a column: a list of numbers or texts, or the token of the fault."""
        figure = self.value(line, expression)
        if isinstance(figure, str):
            return figure
        if not isinstance(figure.value, list) or not all(type(v) in (int, float, str) for v in figure.value):
            return self.failed(line, "faulty series", f"{figure.name}: a series is a list of numbers or texts")
        return figure

    def value(self, line: int, expression: str) -> Figure | str:
        """A value that something is drawn from: it is kept in the ledger and asserted like any figure."""
        figure = self._computed(line, "series", expression)
        if not isinstance(figure, str):
            self.figures.append(figure)
        return figure

    def is_computed(self, expression: str) -> bool:
        """Whether an expression uses lesson code; a broken one is left to whoever evaluates it."""
        try:
            return self._resolve(expression).uses_lessons
        except ValueError:
            return True

    def axis(self, line: int, expression: str, columns: Iterable[str]) -> Figure | str:
        """What the columns or curves beside it run over, as a list: `range(1, 6)` for `[f(n) for n in range(1, 6)]`."""
        try:
            name = expressions.normalise(expression)
            others = [other for other in map(expressions.normalise, columns) if other != name]
            within = bool(others) and all(expressions.runs_over(other) == name for other in others)
        except ValueError as error:
            return self.failed(line, "faulty expression", f"{expression}: {error}")
        if not within:
            what = f"{name} uses nothing of lesson_code, and is not what every expression beside it runs over"
            return self.failed(line, "typed figure", what, "write it as the `in` part of the other expressions")
        outcome = self.evaluator.figure(f"list({name})")
        if outcome.error:
            return self.failed(line, "failing expression", f"{name}: {outcome.error}")
        if name not in self.page.axes:
            self.page.axes.append(name)
        return Figure("drawn", self.page.uri, line, name, name, outcome.value or [])

    def choices(self, line: int, expression: str) -> list[Value] | str:
        """The values that a reader may choose from: inputs, which the expressions beside them contain."""
        try:
            found = self._resolve(f"list({expression})")
        except ValueError as error:
            return self.failed(line, "faulty expression", f"{expression}: {error}")
        if found.unknown:
            return self.failed(line, "undefined name", f"{expression}: {', '.join(sorted(found.unknown))}")
        outcome = self.evaluator.figure(found.canonical)
        if outcome.error or not isinstance(outcome.value, list):
            return self._not_computed(line, "failing expression", expression, outcome)
        return outcome.value

    def settings(self, line: int, name: str, expression: str) -> Figure | str:
        """The values of an expression for all settings of an explorer, or the token of the fault.

        Args:
            line: where it stands.
            name: what it is called in the ledger.
            expression: a list of the values.
        """
        figure = self._computed(line, "settings", expression)
        if isinstance(figure, str):
            self.page.failed.add(name)
        return figure

    def label(self, line: int, text: str) -> str:
        """A text of a picture or a heading of a table: figures in it computed, nothing typed."""
        for _, number in self.allow.typed(TOKEN.sub(typed.FIGURE, text)):
            what = f"{number!r} in the label {tokens.plain(text)!r}"
            self.fault(line, "typed number", what, "put number(...) or given(...) into the label")
        return tokens.plain(text)

    def write_files(self, site: Path) -> None:
        """Write the files that belong to the pages, such as the results that an explorer looks up."""
        for name, content in self.files.items():
            file = site / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8", newline="\n")

    # What the pages amount to

    def in_order(self, uris: Iterable[str]) -> list[str]:
        """Pages in the order of the navigation; those it does not name follow by name."""
        places = {uri: place for place, uri in enumerate(self.navigation)}
        return sorted(uris, key=lambda uri: (places.get(uri, len(places)), uri))

    def as_ledger(self) -> ledger.Pages:
        """The ledger as this build would write it."""
        by_page: dict[str, ledger.Entries] = {}
        chosen: dict[str, list[Value]] = {}
        for given in sorted(self.givens, key=lambda given: given.line):
            chosen.setdefault(given.page, []).append(given.value)
        for uri, values in chosen.items():
            by_page[uri] = {ledger.INPUTS: values}
        for figure in sorted(self.figures, key=lambda figure: figure.line):
            entries = by_page.setdefault(figure.page, {})
            if figure.kind in ("printed", "settings"):
                assert isinstance(figure.value, list)
                entries[figure.name] = figure.value
                continue
            entry = entries.setdefault(figure.name, [figure.value])
            if figure.written and figure.written not in entry[1:]:
                entry.append(figure.written)
        return {uri: by_page[uri] for uri in self.in_order(by_page)}

    def to_assert(self) -> dict[str, Figure]:
        """Every figure that a test must assert, by the code that computes it."""
        found: dict[str, Figure] = {}
        for figure in self.figures:
            if figure.kind in ASSERTED:
                found.setdefault(figure.code, figure)
        return found


ALIKE = [
    ((Comment, String.Doc), Comment),
    ((String.Escape,), String.Escape),
    ((String,), String),
    ((Number,), Number),
    ((Keyword.Constant, Name.Builtin), Name.Builtin),
    ((Keyword, Operator.Word), Keyword),
    ((Name.Function, Name.Class, Name.Exception, Name.Decorator), Name.Function),
]
"""Kinds of tokens in the code of a page, and the kind as which they are shown; others have no colour of their own."""


def highlighted(source: str, file: str = "") -> str:
    """Python code as the theme shows it, under the name of its file if it has one."""
    shown: str = highlight(source, _Lexer(), HtmlFormatter(cssclass="highlight", wrapcode=True, filename=file))
    return shown.replace("<span></span>", "")


class _Lexer(PythonLexer):  # type: ignore[misc]
    """Python in as few kinds as have a colour here: an element for every dot would be most of a page's elements."""

    def get_tokens(self, text: str, unfiltered: bool = False) -> Iterator[tuple[Any, str]]:
        """The tokens, the kinds that look alike made one."""
        for kind, written in super().get_tokens(text, unfiltered):
            yield next((alike for kinds, alike in ALIKE if any(kind in one for one in kinds)), Token.Text), written
