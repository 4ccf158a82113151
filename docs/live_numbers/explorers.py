"""Explorers: a reader chooses a setting, and the page shows what the lesson code gives for it.

The results of all settings are computed when the site is built, each result by one expression, and written to a file
that the page's script loads on first use. The script looks up and shows; it computes nothing. What is shown first
stands in the page as figures like any others, with and without a script.
"""

from __future__ import annotations

import ast
import hashlib
import html
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from live_numbers import drawing, expressions, forms
from live_numbers.build import Build, Figure
from live_numbers.forms import Scalar, Value
from live_numbers.tokens import Piece, tokens

NAME = re.compile(r"[a-z][a-z0-9-]*")
FOLDER = "assets/explorers"
FEW, SHORT = 4, 48
"""So many choices, with so many characters together, stand side by side."""

SETTING = "Setting"
LEGEND = "Settings"
SHARE = "Link to this setting"


class FaultyError(Exception):
    """Something that was already recorded as a fault; the text is what stands in its place."""


@dataclass(frozen=True)
class Control:
    """What a reader may choose.

    Attributes:
        name: the variable that stands in the expressions.
        label: what it is called on the page.
        within: what it runs over, as it is written in an expression.
        values: the choices.
        written: the same as the page writes them.
        start: the place of the one that is chosen first.
    """

    name: str
    label: str
    within: str
    values: list[Scalar]
    written: list[str]
    start: int

    @property
    def keys(self) -> list[str]:
        """The choices as they stand in an address."""
        return [("yes" if value else "no") if isinstance(value, bool) else str(value) for value in self.values]

    @property
    def kind(self) -> str:
        """How it is chosen: `checkbox`, `radio`, `range` or `select`."""
        if all(isinstance(value, bool) for value in self.values):
            return "checkbox"
        if len(self.values) <= FEW and sum(map(len, self.written)) <= SHORT:
            return "radio"
        return "select" if any(isinstance(value, str) for value in self.values) else "range"


@dataclass(frozen=True)
class Cell:
    """What one place shows at one setting: a text, how long its bar is, and whether it tells of something gone."""

    text: str
    part: float | None = None
    gone: bool = False


@dataclass(frozen=True)
class Result:
    """What is shown for a setting.

    Attributes:
        label: what it is called.
        rows: the HTML of the names of its rows; none for a single value.
        cells: for each setting the cells, one or one a row.
        start: the cells of the first setting.
        shown: what stands in them, as HTML.
        numeric: whether all its values are numbers.
    """

    label: str
    rows: list[str]
    cells: list[list[Cell]]
    start: list[Cell]
    shown: list[str]
    numeric: bool


@dataclass(frozen=True)
class Call:
    """What all results of an explorer have in common; see `explorer`."""

    build: Build
    line: int
    name: str
    controls: Sequence[Control]
    forms: Mapping[str, str]
    gone: Sequence[str]
    relative: Sequence[str]


def explorer(
    build: Build,
    line: int,
    name: str,
    controls: Mapping[str, str],
    results: Mapping[str, str | Sequence[str | Sequence[str]]],
    *,
    title: str,
    caption: str,
    start: Mapping[str, Scalar] | None = None,
    forms: Mapping[str, str] | None = None,
    names: Mapping[str, Mapping[Scalar, str]] | None = None,
    gone: Sequence[str] = (),
    relative: Sequence[str] = (),
) -> str:
    """Results for settings that the reader chooses.

    Args:
        build: the running build.
        line: where the page calls it.
        name: a short name, for the address and the ledger.
        controls: for each label `variable in values`, such as `limit in range(3, 20)`.
        results: for each label an expression with those variables: a number, a text, or a flat list of them. Or two:
            what the names of rows are, as a list of texts or an expression without variables, and an expression that
            gives as many values, shown as bars where they are numbers.
        title: what there is to explore.
        caption: what to try, and what to look for.
        start: the value of each variable that is shown first; otherwise the first one.
        forms: how results and choices are written, by the label of a result and by the variable of a control.
        names: words for some choices, by variable and value.
        gone: texts of rows that tell of something left out.
        relative: labels of results whose bars are parts of the longest at the same setting, not of the longest of all.
    """
    try:
        _check_name(build, name)
        if not caption.strip():
            raise ValueError("it needs a caption that says what to try and what to look for")
        chosen = _controls(build, line, controls, start or {}, forms or {}, names or {})
        _check_options(chosen, results, forms or {}, start or {}, names or {}, dict.fromkeys(relative))
        call = Call(build, line, name, chosen, forms or {}, gone, relative)
        build.ahead(_over(chosen, given if isinstance(given, str) else str(given[-1])) for given in results.values())
        found = [_result(call, label, given) for label, given in results.items()]
        if lost := set(gone) - {cell.text for result in found for cells in result.cells for cell in cells}:
            raise ValueError(f"no row ever says {min(lost)!r}, which `gone` names")
        return _figure(build, line, name, title, caption, chosen, found)
    except FaultyError as error:
        return str(error)
    except ValueError as error:
        return build.failed(line, "faulty explorer", f"{name}: {error}")


def _check_name(build: Build, name: str) -> None:
    if not NAME.fullmatch(name):
        raise ValueError("a name is of small letters, digits and hyphens, and begins with a letter")
    if any(name in page.shown.explorers for page in build.pages.values()):
        raise ValueError("another explorer has this name: addresses would not tell them apart")


def _check_options(
    controls: Sequence[Control],
    results: Mapping[str, str | Sequence[str | Sequence[str]]],
    *options: Mapping[str, object],
) -> None:
    """Refuse what would have no effect: options of unknown controls or results, and controls that nothing uses."""
    variables = {control.name for control in controls}
    if not results:
        raise ValueError("there are no results")
    if unknown := {key for option in options for key in option} - variables - set(results):
        raise ValueError(f"there is neither a control nor a result {min(unknown)!r}")
    used = set()
    for given in results.values():
        used |= expressions.free_names(expressions.parse(given if isinstance(given, str) else str(given[-1])))
    if idle := variables - used:
        raise ValueError(f"no result depends on {min(idle)}")


# Controls.


def _controls(
    build: Build,
    line: int,
    controls: Mapping[str, str],
    start: Mapping[str, Scalar],
    written: Mapping[str, str],
    names: Mapping[str, Mapping[Scalar, str]],
) -> list[Control]:
    """All controls, in order."""
    if not controls:
        raise ValueError("there are no controls")
    found: list[Control] = []
    for label, text in controls.items():
        name, within = _parts(text)
        if name in {control.name for control in found}:
            raise ValueError(f"two controls are called {name}")
        values = _choices(build.choices(line, within), text)
        first = start.get(name, values[0])
        if first not in values:
            raise ValueError(f"{text} does not hold {first!r}, with which it starts")
        said = {value: build.label(line, word) for value, word in names.get(name, {}).items()}
        if stray := [value for value in said if value not in values]:
            raise ValueError(f"{text} does not hold {stray[0]!r}, which has a name")
        texts = [said.get(value) or _written_choice(value, written.get(name, "")) for value in values]
        found.append(Control(name, build.label(line, label), within, values, texts, values.index(first)))
    return found


def _parts(text: str) -> tuple[str, str]:
    """The variable and the values of a control, `limit in range(3, 20)`."""
    match expressions.parse(text):
        case ast.Compare(left=ast.Name(id=name), ops=[ast.In()], comparators=[values]):
            return name, ast.unparse(values)
    raise ValueError(f"a control is `variable in values`, not {text!r}")


def _choices(found: list[Value] | str, text: str) -> list[Scalar]:
    """The values of a control, if they can be told apart."""
    if isinstance(found, str):
        raise FaultyError(found)
    values = [value for value in found if not isinstance(value, list)]
    kinds = {bool if isinstance(value, bool) else str if isinstance(value, str) else float for value in values}
    if len(values) < len(found) or len(set(values)) < max(2, len(values)) or len(kinds) > 1:
        raise ValueError(f"{text}: choices are two or more different numbers, or texts, or (False, True)")
    if kinds == {bool} and values != [False, True]:
        raise ValueError(f"{text}: a yes or no is written `in (False, True)`")
    return values


def _written_choice(value: Scalar, form: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return forms.write(value, form)


# Results.


def _over(controls: Sequence[Control], expression: str) -> str:
    """The list of what an expression gives for all settings."""
    runs = " ".join(f"for {control.name} in {control.within}" for control in controls)
    return expressions.normalise(f"[{expressions.normalise(expression)} {runs}]")


def _first(controls: Sequence[Control]) -> int:
    """The place of the first setting among all."""
    place = 0
    for control in controls:
        place = place * len(control.values) + control.start
    return place


def _result(call: Call, label: str, given: str | Sequence[str | Sequence[str]]) -> Result:
    """A result for all settings; its values enter the ledger, and those of the first setting as figures."""
    build, line, form = call.build, call.line, call.forms.get(label, "")
    *heads, expression = [given] if isinstance(given, str) else given
    if not isinstance(expression, str) or len(heads) > 1:
        raise ValueError(f"{label}: a result is an expression, or names of rows and an expression")
    at_start = expressions.substituted(expression, {c.name: c.values[c.start] for c in call.controls})
    values, written = _all_settings(call, label, expression, form, bool(heads))
    place = _first(call.controls)
    if not heads:
        cells = [[Cell(text) for text in texts] for texts in written]
        shown = _shown(build, line, at_start, form, values[place])
        numeric = not any(isinstance(value, str | list) for value in values)
        return Result(build.label(line, label), [], cells, cells[place], shown, numeric)
    rows = _rows(build, line, heads[0], at_start)
    if any(len(texts) != len(rows) for texts in written):
        raise ValueError(f"{label}: {len(rows)} rows have names, but not every setting gives so many values")
    cells = _cells(values, written, call.gone, label in call.relative)
    shown = _shown_rows(build, line, at_start, form, values[place])
    return Result(build.label(line, label), rows, cells, cells[place], shown, cells[place][0].part is not None)


def _all_settings(
    call: Call, label: str, expression: str, form: str, is_list: bool
) -> tuple[list[Value], list[list[str]]]:
    """The values of an expression for all settings, and how they are written; the ledger keeps what they amount to."""
    name = f"explorer: {call.name}, {tokens.plain(label)}"
    figure = call.build.settings(call.line, name, _over(call.controls, expression))
    if isinstance(figure, str):
        raise FaultyError(figure)
    values = figure.value if isinstance(figure.value, list) else []
    written = [_written(value, form, is_list) for value in values]
    call.build.figures.append(_entry(figure, name, values, written))
    return values, written


def _written(value: Value, form: str, is_list: bool) -> list[str]:
    """A value as it is written, in a list of its own; of rows, each of them."""
    if not is_list:
        return [forms.write(value, "" if isinstance(value, str) else form)]
    if not isinstance(value, list):
        raise ValueError(f"rows need a list of values for every setting, not {value!r}")
    return [text for item in value for text in _written(item, form, False)]


def _entry(figure: Figure, name: str, values: Sequence[Value], written: Sequence[Sequence[str]]) -> Figure:
    """What the ledger keeps of all settings: the expression, what they amount to, and a digest of them all."""
    different = {json.dumps(value) for value in values}
    settings = f"{len(values):,} settings"
    summary = f"{settings}, {len(different):,} different results"
    numbers = [value for value in values if isinstance(value, int | float)]
    if len(numbers) == len(values):
        summary += f", from {min(numbers)} to {max(numbers)}"
    digest = hashlib.sha256(json.dumps([values, written]).encode()).hexdigest()
    lines: list[Value] = [figure.name, summary, f"sha256 of values and texts: {digest}"]
    return Figure("settings", figure.page, figure.line, name, figure.code, lines, settings)


def _rows(build: Build, line: int, heads: str | Sequence[str], beside: str) -> list[str]:
    """The names of the rows, as HTML."""
    if not isinstance(heads, str):
        return [html.escape(build.label(line, head)) for head in heads]
    figure = build.series(line, heads) if build.is_computed(heads) else build.axis(line, heads, [beside])
    if isinstance(figure, str):
        raise FaultyError(figure)
    values = figure.value if isinstance(figure.value, list) else []
    return [drawing.datum(build, figure, value, "") for value in values]


def _cells(
    values: Sequence[Value], written: Sequence[Sequence[str]], gone: Sequence[str], relative: bool
) -> list[list[Cell]]:
    """The rows of every setting: with bars, as parts of the longest, where all values are numbers."""
    settings = [
        [item for item in value if isinstance(item, int | float)] for value in values if isinstance(value, list)
    ]
    if any(len(numbers) < len(texts) for numbers, texts in zip(settings, written, strict=True)):
        return [[Cell(text, gone=text in gone) for text in texts] for texts in written]
    if any(number < 0 for numbers in settings for number in numbers):
        raise ValueError("a bar cannot be shorter than nothing")
    longest = [max(numbers, default=0) for numbers in settings]
    ends = longest if relative else [max(longest)] * len(settings)
    return [
        [Cell(text, round(number / (end or 1), 4)) for text, number in zip(texts, numbers, strict=True)]
        for texts, numbers, end in zip(written, settings, ends, strict=True)
    ]


def _shown(build: Build, line: int, expression: str, form: str, value: Value) -> list[str]:
    """A single result of the first setting, as a figure of the page."""
    figure = build.number(line, expression, "" if isinstance(value, str) else form)
    _check_first(build, expression, value)
    return [tokens.html(figure)]


def _shown_rows(build: Build, line: int, expression: str, form: str, value: Value) -> list[str]:
    """The rows of the first setting, as a figure of the page."""
    figure = build.value(line, expression)
    if isinstance(figure, str):
        raise FaultyError(figure)
    _check_first(build, expression, value)
    items = figure.value if isinstance(figure.value, list) else []
    return [drawing.datum(build, figure, item, "" if isinstance(item, str) else form) for item in items]


def _check_first(build: Build, expression: str, value: Value) -> None:
    """The figure that was just computed for the first setting must be the one that all settings hold for it."""
    if build.figures[-1].name == expression and build.figures[-1].value != value:
        raise ValueError(f"{expression} is {build.figures[-1].value!r} alone, but {value!r} among all settings")


# What the page and the script get.


def _figure(
    build: Build,
    line: int,
    name: str,
    title: str,
    caption: str,
    controls: Sequence[Control],
    results: Sequence[Result],
) -> str:
    """The Markdown of an explorer; the file with all results is put aside."""
    build.label(line, title)
    content = _lookup(controls, results)
    file = f"{name}.{hashlib.sha256(content.encode()).hexdigest()[:12]}.json"
    build.files[f"{FOLDER}/{file}"] = content
    box = (
        f'<div class="ln-explore" data-explorer="{name}" data-results="{file}">{_controls_html(name, controls)}'
        f'<p class="ln-setting">{SETTING}: <span>{html.escape(_setting(controls))}</span></p>'
        f'{_results_html(results)}<p class="ln-foot">All {math.prod(len(c.values) for c in controls):,} settings were '
        f'computed by the code of the lessons when this page was made. <a href="#explorer-{name}">{SHARE}</a></p>'
        '<p class="ln-said" role="status"></p></div>'
    )
    build.page.shown.explorers[name] = box
    said = "; ".join(f"{result.label}: {', '.join(cell.text for cell in result.start)}" for result in results)
    token = tokens.put(Piece(box, f"{SETTING}: {_setting(controls)}. {said}."))
    return (
        f'\n\n<figure class="ln-explorer" id="explorer-{name}" markdown="1">\n\n'
        f'<figcaption markdown="span"><strong>{html.escape(title)}</strong> {caption.strip()}</figcaption>\n\n'
        f"{token}\n\n</figure>\n\n"
    )


def _lookup(controls: Sequence[Control], results: Sequence[Result]) -> str:
    """What the script looks up, as JSON: each different cell once, and for each place which one it shows."""
    found = []
    for result in results:
        places: dict[Cell, int] = {}
        at = [places.setdefault(cell, len(places)) for cells in result.cells for cell in cells]
        entry: dict[str, object] = {"texts": [cell.text for cell in places], "at": at}
        if any(cell.part is not None for cell in places):
            entry["parts"] = [cell.part for cell in places]
        if any(cell.gone for cell in places):
            entry["gone"] = [int(cell.gone) for cell in places]
        found.append(entry)
    chosen = [
        {"name": c.name, "label": c.label, "keys": c.keys, "written": c.written, "start": c.start} for c in controls
    ]
    return json.dumps({"controls": chosen, "results": found}, ensure_ascii=False, separators=(",", ":")) + "\n"


def _setting(controls: Sequence[Control]) -> str:
    """The first setting in words."""
    return ", ".join(f"{control.label}: {control.written[control.start]}" for control in controls)


def _controls_html(name: str, controls: Sequence[Control]) -> str:
    """The controls; they do nothing until a script has taken charge."""
    inner = "".join(CONTROLS[control.kind](f"{name}-{control.name}", control) for control in controls)
    return f'<fieldset class="ln-controls" disabled><legend>{LEGEND}</legend>{inner}</fieldset>'


def _range(key: str, control: Control) -> str:
    written = html.escape(control.written[control.start])
    longest = html.escape(max(control.written, key=len))
    return (
        f'<div class="ln-control"><label for="{key}">{html.escape(control.label)}</label>'
        f'<input type="range" id="{key}" name="{key}" min="0" max="{len(control.values) - 1}" step="1" '
        f'value="{control.start}" aria-valuetext="{written}" autocomplete="off">'
        f'<output for="{key}" aria-live="off" data-longest="{longest}">{written}</output></div>'
    )


def _checkbox(key: str, control: Control) -> str:
    checked = " checked" if control.values[control.start] else ""
    return (
        f'<div class="ln-control"><label for="{key}"><input type="checkbox" id="{key}" name="{key}" '
        f'autocomplete="off"{checked}>{html.escape(control.label)}</label></div>'
    )


def _radio(key: str, control: Control) -> str:
    choices = "".join(
        f'<label><input type="radio" name="{key}" value="{place}" autocomplete="off"'
        f"{' checked' if place == control.start else ''}>{html.escape(text)}</label>"
        for place, text in enumerate(control.written)
    )
    return f'<fieldset class="ln-control" id="{key}"><legend>{html.escape(control.label)}</legend>{choices}</fieldset>'


def _select(key: str, control: Control) -> str:
    choices = "".join(
        f"<option{' selected' if place == control.start else ''}>{html.escape(text)}</option>"
        for place, text in enumerate(control.written)
    )
    return (
        f'<div class="ln-control"><label for="{key}">{html.escape(control.label)}</label>'
        f'<select id="{key}" name="{key}" autocomplete="off">{choices}</select></div>'
    )


CONTROLS = {"range": _range, "checkbox": _checkbox, "radio": _radio, "select": _select}


def _results_html(results: Sequence[Result]) -> str:
    """The results of the first setting: single ones in one table, rows in a table of their own."""
    single = "".join(
        f'<tr><th scope="row">{html.escape(result.label)}</th>{_cell(place, result, 0)}</tr>'
        for place, result in enumerate(results)
        if not result.rows
    )
    tables = [f'<table class="ln-results"><tbody>{single}</tbody></table>'] if single else []
    for place, result in enumerate(results):
        if result.rows:
            rows = "".join(_row(place, result, row) for row in range(len(result.rows)))
            tables.append(
                f'<table class="ln-results ln-rows"><caption>{html.escape(result.label)}</caption>'
                f"<tbody>{rows}</tbody></table>"
            )
    return "".join(tables)


def _row(place: int, result: Result, row: int) -> str:
    """A row: its name, its value, and its bar."""
    cell = result.start[row]
    kind = ' class="ln-gone"' if cell.gone else ""
    bar = "" if cell.part is None else f'<td class="ln-part"><span style="--part:{cell.part}"></span></td>'
    return f'<tr{kind}><th scope="row">{result.rows[row]}</th>{_cell(place, result, row)}{bar}</tr>'


def _cell(place: int, result: Result, row: int) -> str:
    """A value, with room for the longest that may come to stand there."""
    longest = max((cells[row].text for cells in result.cells), key=len)
    kind = ' class="ln-number"' if result.numeric else ""
    room = html.escape(longest)
    return f'<td{kind}><div data-result="{place}" data-longest="{room}">{result.shown[row]}</div></td>'
