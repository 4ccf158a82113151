"""Tables and pictures on a page: from expressions to columns, or to a drawing, its caption and its values."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from live_numbers import canvas, diagrams, forms, pictures
from live_numbers.build import Build, Figure
from live_numbers.tokens import Piece, tokens


def table(build: Build, line: int, columns: Mapping[str, str], forms_: Mapping[str, str]) -> str:
    """A table whose columns are expressions that give lists; see `live_numbers.macros`."""
    if unknown := sorted(set(forms_) - set(columns)):
        return build.failed(line, "faulty table", f"forms for columns that do not exist: {', '.join(unknown)}")
    figures = []
    for expression in columns.values():
        computed = build.is_computed(expression)
        figures.append(build.series(line, expression) if computed else build.axis(line, expression, columns.values()))
    broken = [figure for figure in figures if isinstance(figure, str)]
    if broken:
        return "".join(broken)
    for head in columns:
        build.label(line, head)
    try:
        cells = [
            _cells(build, figure, forms_.get(head, ""))
            for head, figure in zip(columns, figures, strict=True)
            if isinstance(figure, Figure)
        ]
        rows = [list(row) for row in zip(*cells, strict=True)]
        if not rows:
            raise ValueError("the columns are empty")
    except ValueError as error:
        return build.failed(line, "faulty table", str(error), "give every column the same number of values")
    return tokens.put(Piece(f'<div class="ln-table">{_table(columns, rows)}</div>', ""))


def line_chart(
    build: Build,
    line: int,
    name: str,
    x: str,
    curves: Mapping[str, str | Sequence[str]],
    *,
    title: str,
    x_label: str,
    y_label: str,
    caption: str,
    y_unit: str = "",
    y_form: str = "",
) -> str:
    """Curves over an axis; see `live_numbers.macros`."""
    parts = {label: (given,) if isinstance(given, str) else tuple(given) for label, given in curves.items()}
    if any(len(expressions) not in (1, 3) for expressions in parts.values()):
        return build.failed(
            line, "faulty picture", f"{name}: a curve is an expression, or three: value, low end, high end"
        )
    axis = build.axis(line, x, [expression for expressions in parts.values() for expression in expressions])
    figures = {label: [build.series(line, part) for part in expressions] for label, expressions in parts.items()}
    broken = [figure for figure in (axis, *chain(*figures.values())) if isinstance(figure, str)]
    if isinstance(axis, str) or broken:
        return "".join(broken)
    series = {label: [part for part in found if isinstance(part, Figure)] for label, found in figures.items()}
    try:
        svg = pictures.line_chart(
            _numbers(axis),
            [pictures.Line(build.label(line, label), *map(_numbers, found)) for label, found in series.items()],
            name=name,
            title=build.label(line, title),
            x_label=build.label(line, x_label),
            y_label=build.label(line, y_label),
            y_unit=y_unit,
        )
        columns = [_cells(build, axis, ""), *(_banded(build, found, y_form) for found in series.values())]
    except ValueError as error:
        return build.failed(line, "faulty picture", f"{name}: {error}")
    heads = [x_label, *curves]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return _figure(build, line, name, title, svg, caption, _table(heads, rows))


def timeline(
    build: Build,
    line: int,
    name: str,
    x: str,
    levels: str,
    warned: str,
    flushed: str,
    room: int,
    *,
    title: str,
    caption: str,
    x_label: str,
    y_label: str,
    level_label: str,
    warned_label: str,
    flushed_label: str,
    room_label: str,
) -> str:
    """How full a window is after each message; see `live_numbers.macros`."""
    axis = build.axis(line, x, [levels])
    figures = [axis, *(build.series(line, expression) for expression in (levels, warned, flushed))]
    broken = [figure for figure in figures if isinstance(figure, str)]
    if broken:
        return "".join(broken)
    messages, filled, warnings, flushes = (figure for figure in figures if isinstance(figure, Figure))
    build.given(line, room)
    labels = {
        "x_label": x_label,
        "y_label": y_label,
        "level_label": level_label,
        "warned_label": warned_label,
        "flushed_label": flushed_label,
        "room_label": room_label,
    }
    try:
        numbers, marked, emptied = (_whole(figure) for figure in (messages, warnings, flushes))
        svg = pictures.timeline(
            numbers,
            _whole(filled),
            marked,
            emptied,
            room,
            name=name,
            title=build.label(line, title),
            **{key: build.label(line, label) for key, label in labels.items()},
        )
        cells = zip(numbers, _cells(build, messages, ""), _cells(build, filled, ""), strict=True)
    except ValueError as error:
        return build.failed(line, "faulty picture", f"{name}: {error}")
    rows = []
    for number, *places in cells:
        said = [label for label, where in ((flushed_label, emptied), (warned_label, marked)) if number in where]
        rows.append([*places, f"<td>{tokens.html(html.escape(', '.join(said)))}</td>"])
    return _figure(build, line, name, title, svg, caption, _table([x_label, y_label, "what happens"], rows))


def strip(
    build: Build,
    line: int,
    name: str,
    sizes: str,
    sent: str,
    room: int,
    *,
    title: str,
    caption: str,
    labels: str,
    window_label: str,
    cut_label: str,
    sent_label: str,
    room_label: str,
) -> str:
    """A strip of messages and the window they must fit; see `live_numbers.macros`."""
    blocks = build.series(line, sizes)
    newest = build.value(line, sent)
    names = build.value(line, labels)
    if isinstance(blocks, str) or isinstance(newest, str) or isinstance(names, str):
        return "".join(broken for broken in (blocks, newest, names) if isinstance(broken, str))
    amounts, kept, texts = blocks.value, newest.value, names.value
    if not isinstance(amounts, list) or type(kept) is not int or not isinstance(texts, list):
        return build.failed(line, "faulty picture", f"{name}: sizes and labels are lists, sent is a whole number")
    build.given(line, room)
    cut = len(amounts) - kept
    try:
        parts = [
            pictures.Part(int(str(size)), str(text), "cut" if index < cut else "sent")
            for index, (size, text) in enumerate(zip(amounts, texts, strict=True))
        ]
        svg = pictures.bar_strip(
            [*parts, pictures.Part(room, "", "room")],
            name=name,
            title=build.label(line, title),
            window_label=build.label(line, window_label),
            cut_label=build.label(line, cut_label),
            sent_label=build.label(line, sent_label),
            room_label=build.label(line, room_label),
        )
        cells = _cells(build, blocks, "")
    except ValueError as error:
        return build.failed(line, "faulty picture", f"{name}: {error}")
    states = [cut_label if part.state == "cut" else sent_label for part in parts]
    rows = [
        [f"<td>{html.escape(part.label)}</td>", cell, f"<td>{html.escape(build.label(line, state))}</td>"]
        for part, cell, state in zip(parts, cells, states, strict=True)
    ]
    return _figure(build, line, name, title, svg, caption, _table(["message", "tokens", "what happens"], rows))


def message_rows(
    build: Build,
    line: int,
    name: str,
    rows: Mapping[str, str],
    *,
    title: str,
    caption: str,
    new_label: str = "",
    again_label: str = "",
) -> str:
    """The messages of several calls; see `live_numbers.macros`."""
    figures = {label: build.series(line, expression) for label, expression in rows.items()}
    if broken := [figure for figure in figures.values() if isinstance(figure, str)]:
        return "".join(broken)
    series = {label: figure for label, figure in figures.items() if isinstance(figure, Figure)}
    try:
        svg = diagrams.message_rows(
            {build.label(line, label): [str(value) for value in _values(figure)] for label, figure in series.items()},
            name=name,
            title=build.label(line, title),
            new_label=build.label(line, new_label),
            again_label=build.label(line, again_label),
        )
    except ValueError as error:
        return build.failed(line, "faulty picture", f"{name}: {error}")
    cells = [
        [
            f"<td>{tokens.html(html.escape(label))}</td>",
            f"<td>{', '.join(datum(build, figure, value, '') for value in _values(figure)) or 'nothing'}</td>",
        ]
        for label, figure in series.items()
    ]
    return _figure(build, line, name, title, svg, caption, _table(["call", "messages"], cells))


def sequence(
    build: Build,
    line: int,
    name: str,
    actors: Sequence[str],
    steps: Sequence[Sequence[str]],
    *,
    title: str,
    caption: str,
) -> str:
    """Who tells whom what; see `live_numbers.macros`."""
    try:
        svg = diagrams.sequence(
            [build.label(line, actor) for actor in actors],
            [[build.label(line, text) for text in step] for step in steps],
            name=name,
            title=build.label(line, title),
        )
    except ValueError as error:
        return build.failed(line, "faulty picture", f"{name}: {error}")
    texts = [[tokens.html(html.escape(text)) for text in step] for step in steps]
    said = [f"<li><strong>{' → '.join(who)}</strong>: {what}</li>" for *who, what in texts]
    return _figure(build, line, name, title, svg, caption, f"<ol>{''.join(said)}</ol>", "The steps")


def assembly(
    build: Build,
    line: int,
    name: str,
    rows: Sequence[Sequence[str]],
    *,
    title: str,
    caption: str,
    from_label: str,
    to_label: str,
) -> str:
    """What a prompt is put together from; see `live_numbers.macros`."""
    try:
        svg = diagrams.assembly(
            [(build.label(line, source), build.label(line, part)) for source, part in rows],
            name=name,
            title=build.label(line, title),
            from_label=build.label(line, from_label),
            to_label=build.label(line, to_label),
        )
    except ValueError as error:
        return build.failed(line, "faulty picture", f"{name}: {error}")
    cells = [[f"<td>{tokens.html(html.escape(text))}</td>" for text in row] for row in rows]
    return _figure(build, line, name, title, svg, caption, _table([from_label, to_label], cells), "The parts")


def _values(figure: Figure) -> list[forms.Value]:
    """The values of a series, which is a list."""
    assert isinstance(figure.value, list)
    return figure.value


def _numbers(figure: Figure) -> list[float]:
    """The values of an axis or a curve; a ValueError where they are no numbers."""
    values = figure.value if isinstance(figure.value, list) else [figure.value]
    numbers = [value for value in values if isinstance(value, int | float)]
    if len(numbers) < len(values):
        raise ValueError(f"{figure.name} is no list of numbers")
    return numbers


def _whole(figure: Figure) -> list[int]:
    """The values of a series of whole numbers; a ValueError where they are none."""
    values = [value for value in _values(figure) if type(value) is int]
    if len(values) < len(_values(figure)):
        raise ValueError(f"{figure.name} is no list of whole numbers")
    return values


def _cells(build: Build, figure: Figure, form: str) -> list[str]:
    """The values of a series as cells of the table."""
    return [_cell(build, figure, value, form) for value in _values(figure)]


def _banded(build: Build, found: Sequence[Figure], form: str) -> list[str]:
    """The values of a curve as cells of the table, with the ends of their intervals where it has any."""
    if len(found) == 1:
        return _cells(build, found[0], form)
    parts = zip(*(_values(figure) for figure in found), strict=True)
    written = ([datum(build, figure, value, form) for figure, value in zip(found, row, strict=True)] for row in parts)
    return [
        f'<td class="ln-number">{value}<br><span class="ln-interval">{low} to {high}</span></td>'
        for value, low, high in written
    ]


def _figure(
    build: Build, line: int, name: str, title: str, svg: str, caption: str, table: str, heading: str = "The values"
) -> str:
    """The Markdown of a picture; what it says, the title for those who cannot see it first, is remembered."""
    page = build.page
    said = [tokens.plain(title), *canvas.texts(svg)]
    page.shown.pictures[name] = said
    build.figures.append(Figure("printed", page.uri, line, f"picture: {name}", "", list(said)))
    drawing = tokens.put(Piece(f'<div data-picture="{name}">{svg}</div>', ""))
    values = tokens.put(Piece(f'<details class="ln-values"><summary>{heading}</summary>{table}</details>', ""))
    return (
        f'\n\n<figure class="ln-picture" id="picture-{name}" markdown="1">\n\n{drawing}\n\n'
        f'<figcaption markdown="span">{caption.strip()}</figcaption>\n\n{values}\n\n</figure>\n\n'
    )


def _cell(build: Build, figure: Figure, value: forms.Value, form: str) -> str:
    """One value of a series as a cell of the table."""
    kind = "" if isinstance(value, str) else ' class="ln-number"'
    return f"<td{kind}>{datum(build, figure, value, form)}</td>"


def datum(build: Build, figure: Figure, value: forms.Value, form: str) -> str:
    """One value of a series, marked as computed."""
    written = forms.write(value, form)
    build.page.shown.figures.add(("data-expr", figure.name, str(value), written))
    exact, name = html.escape(str(value)), html.escape(figure.name)
    return f'<data value="{exact}" data-expr="{name}">{html.escape(written)}</data>'


def _table(heads: Iterable[str], rows: list[list[str]]) -> str:
    """A table of finished cells; a heading stands over its column as the cells do."""
    kinds = [' class="ln-number"' if cell.startswith('<td class="ln-number"') else "" for cell in rows[0]]
    head = "".join(
        f'<th scope="col"{kind}>{tokens.html(html.escape(text))}</th>' for kind, text in zip(kinds, heads, strict=True)
    )
    body = "".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
