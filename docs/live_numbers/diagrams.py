"""Diagrams for the pages: what is sent at each call, who tells whom what, and what a prompt is put together from.

The functions are pure: they know no lesson, read no file and return the same bytes for the same input.
They give one picture as `live_numbers.canvas` describes it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from live_numbers.canvas import CUT, EDGE, INK, PAPER, SERIES, SIZE, WIDTH, canvas, finish, inside, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE = 18.0  # from one line of text to the next
_ROLES = {"user": SERIES[0], "assistant": SERIES[1], "system": SERIES[2], "developer": SERIES[2], "tool": SERIES[3]}


def message_rows(
    rows: Mapping[str, Sequence[str]], *, name: str, title: str, new_label: str = "", again_label: str = ""
) -> str:
    """Draw the messages of several calls, a row each.

    Args:
        rows: For each call its name, and its messages in order. The first word of a message is its role and gives the
            colour; what is no role (a gap, say) is drawn dashed. A row without messages says "nothing".
        name: Begins every id in the picture; unique on its page.
        title: The alternative text.
        new_label: What a filled message is. With `again_label`, messages that the row above begins with too are hollow.
        again_label: What a hollow message is.

    Returns:
        The picture, one ``<svg>`` on one line.

    Raises:
        ValueError: There are no rows, a text is too long for the picture, or only one of the labels is given.
    """
    if not rows:
        raise ValueError("there are no rows")
    if bool(new_label) != bool(again_label):
        raise ValueError("new_label and again_label belong together")
    with canvas() as (figure, axes):
        y, before = EDGE, list[str]()
        for label, messages in rows.items():
            y += SIZE
            inside(0, label)
            axes.text(EDGE, y, label, color=INK)
            again = _common(before, messages) if again_label else 0
            y = _chips(axes, y + 8, [(text, at < again) for at, text in enumerate(messages)]) + 12
            before = list(messages)
        if again_label:
            y = _chips(axes, y + 4, [(new_label, False), (again_label, True)], key=True) + 4
        return _flat(figure, axes, y, name, title)


def sequence(actors: Sequence[str], steps: Sequence[Sequence[str]], *, name: str, title: str) -> str:
    """Draw who tells whom what, from top to bottom; an arrow to the left is an answer, and dashed.

    Args:
        actors: Their names, from left to right.
        steps: What happens, in order: (from, to, what is said), or (actor, what it does by itself).
        name: Begins every id in the picture; unique on its page.
        title: The alternative text.

    Returns:
        The picture, one ``<svg>`` on one line.

    Raises:
        ValueError: A step names nobody, there is nothing to draw, or a text is too long for the picture.
    """
    if len(actors) < 2 or not steps:
        raise ValueError("a sequence needs at least two actors and one step")
    if any(len(step) not in (2, 3) for step in steps):
        raise ValueError("a step is (from, to, what is said), or (actor, what it does)")
    if strangers := sorted({actor for step in steps for actor in step[:-1]} - set(actors)):
        raise ValueError(f"a step names {', '.join(strangers)}, who is not among the actors")
    lane = (WIDTH - 2 * EDGE) / len(actors)
    middle = {actor: EDGE + lane * (number + 0.5) for number, actor in enumerate(actors)}
    with canvas() as (figure, axes):
        heads = {actor: wrapped(actor, lane - 12) for actor in actors}
        tall = _LINE * max(map(len, heads.values())) + 8
        for actor, lines in heads.items():
            _box(axes, middle[actor] - lane / 2 + 3, EDGE, lane - 6, tall, edgecolor=INK, linewidth=1.2)
            _lines(axes, middle[actor], EDGE + (tall - _LINE * len(lines)) / 2, lines)
        top = y = EDGE + tall
        for step in steps:
            places, text = [middle[actor] for actor in step[:-1]], step[-1]
            y = (
                _said(axes, y + 8, places[0], places[1], text)
                if len(step) == 3
                else _done(axes, y + 8, places[0], text, lane)
            )
        for x in middle.values():
            axes.plot([x, x], [top, y + 8], color=CUT, linewidth=1, linestyle=(0, (2, 3)), zorder=1)
        return _flat(figure, axes, y + 8, name, title)


def assembly(rows: Sequence[tuple[str, str]], *, name: str, title: str, from_label: str, to_label: str) -> str:
    """Draw what a prompt is put together from: places on the left, and the parts they become on the right.

    Args:
        rows: For each part where it comes from, and what it is.
        name: Begins every id in the picture; unique on its page.
        title: The alternative text.
        from_label: What stands on the left.
        to_label: What stands on the right.

    Returns:
        The picture, one ``<svg>`` on one line.

    Raises:
        ValueError: There is nothing to draw, or a text is too long for the picture.
    """
    if not rows:
        raise ValueError("there are no rows")
    wide, gap = 200.0, WIDTH - 2 * EDGE - 400
    right = EDGE + wide + gap
    with canvas() as (figure, axes):
        heads = [wrapped(label, wide) for label in (from_label, to_label)]
        y = EDGE + _LINE * max(map(len, heads))
        for x, lines in zip((EDGE + wide / 2, right + wide / 2), heads, strict=True):
            _lines(axes, x, y - _LINE * len(lines), lines)
        y += 8
        for number, texts in enumerate(rows):
            source, part = (wrapped(text, wide - 16) for text in texts)
            tall = _LINE * max(len(source), len(part)) + 12
            look = {"edgecolor": SERIES[number % len(SERIES)], "linewidth": 1.6}
            _box(axes, EDGE, y + 3, wide, tall - 6, linestyle=(0, (4, 2)), **look)
            _box(axes, right, y + 1, wide, tall - 2, **look)
            _lines(axes, EDGE + wide / 2, y + (tall - _LINE * len(source)) / 2, source)
            _lines(axes, right + wide / 2, y + (tall - _LINE * len(part)) / 2, part)
            _arrow(axes, EDGE + wide + 3, right - 3, y + tall / 2, INK)
            y += tall
        return _flat(figure, axes, y, name, title)


def wrapped(text: str, wide: float) -> list[str]:
    """Break a text into as few lines as `wide` allows, of about one length; a wider word raises a ValueError."""
    words = text.split()
    widest = max(map(text_width, words))
    if widest > wide:
        raise ValueError(f"too long for the picture: {max(words, key=text_width)!r}")
    lines = _filled(words, wide)
    while wide - 8 >= widest and len(narrower := _filled(words, wide - 8)) == len(lines):
        lines, wide = narrower, wide - 8
    return lines


def _filled(words: Sequence[str], wide: float) -> list[str]:
    """Put words into lines, each as full as it gets."""
    lines: list[str] = []
    for word in words:
        if lines and text_width(f"{lines[-1]} {word}") <= wide:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _common(before: Sequence[str], messages: Sequence[str]) -> int:
    """Count the messages with which both begin."""
    same = 0
    while same < min(len(before), len(messages)) and before[same] == messages[same]:
        same += 1
    return same


def _chips(axes: "Axes", y: float, messages: Sequence[tuple[str, bool]], key: bool = False) -> float:
    """Draw messages in a row, or in several if they are many; give where they end."""
    x, tall = EDGE, 24.0
    if not messages:
        axes.text(x, y + 17, "nothing", color=CUT)
    for text, hollow in messages:
        wide = text_width(text) + 14
        if wide > WIDTH - 2 * EDGE:
            raise ValueError(f"too long for the picture: {text!r}")
        if x + wide > WIDTH - EDGE:
            x, y = EDGE, y + tall + 5
        colour = INK if key else _ROLES.get(text.split()[0], CUT)
        dashed = (0, (3, 2)) if colour == CUT else "-"
        filled = not hollow and colour != CUT
        _box(axes, x, y, wide, tall, edgecolor=colour, facecolor=colour if filled else PAPER, linestyle=dashed)
        axes.text(x + wide / 2, y + 17, text, ha="center", color=PAPER if filled else colour)
        x += wide + 5
    return y + tall


def _said(axes: "Axes", y: float, start: float, end: float, text: str) -> float:
    """Draw an arrow from one line to another, and what is said above it; give where it ends."""
    lines = wrapped(text, max(abs(end - start) - 10, 190))
    _lines(axes, inside((start + end) / 2, max(lines, key=text_width)), y, lines, behind=True)
    y += _LINE * len(lines) + 7
    answer = end < start
    _arrow(axes, start, end, y, SERIES[1] if answer else SERIES[0], dashed=answer)
    return y + 4


def _done(axes: "Axes", y: float, place: float, text: str, lane: float) -> float:
    """Draw what an actor does by itself, in a box on its line; give where it ends."""
    lines = wrapped(text, max(lane - 16, 150))
    wide, tall = max(map(text_width, lines)) + 14, _LINE * len(lines) + 8
    centre = min(max(place, EDGE + wide / 2), WIDTH - EDGE - wide / 2)
    _box(axes, centre - wide / 2, y, wide, tall, edgecolor=SERIES[2], linewidth=1.2)
    _lines(axes, centre, y + 4, lines)
    return y + tall


def _lines(axes: "Axes", x: float, y: float, lines: Sequence[str], behind: bool = False) -> None:
    """Write lines of text around x, the first below y; with `behind`, on the colour of the page."""
    look: dict[str, Any] = {"color": INK, "ha": "center", "zorder": 4}
    if behind:
        look["bbox"] = {"boxstyle": "square,pad=0.08", "facecolor": PAPER, "edgecolor": "none"}
    for number, line in enumerate(lines):
        axes.text(x, y + _LINE * number + 13, line, **look)


def _box(axes: "Axes", x: float, y: float, wide: float, tall: float, **look: Any) -> None:
    """Draw a rectangle in front of the lines, filled with the colour of the page unless the look says otherwise."""
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x, y), wide, tall, **{"facecolor": PAPER, "zorder": 3, **look}))


def _arrow(axes: "Axes", start: float, end: float, y: float, colour: str, dashed: bool = False) -> None:
    """Draw an arrow along y."""
    back = end - 8 if end > start else end + 8
    axes.plot([start, back], [y, y], color=colour, linewidth=1.6, linestyle=(0, (5, 3)) if dashed else "-", zorder=2)
    axes.fill([end, back, back], [y, y - 4, y + 4], color=colour, linewidth=0, zorder=2)


def _flat(figure: Any, axes: "Axes", height: float, name: str, title: str) -> str:
    """Finish a diagram: no axes, and y runs down."""
    figure.set_size_inches(WIDTH / 72, (height + EDGE) / 72)
    axes.set_axis_off()
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(height + EDGE, 0)
    return finish(figure, name, title)
