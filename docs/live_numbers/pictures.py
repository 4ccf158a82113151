"""Pictures of numbers for the pages: curves over an axis, strips of tokens, the filling of a window, as inline SVG.

The functions are pure: they know no lesson, read no file and return the same bytes for the same input.
They give one picture as `live_numbers.canvas` describes it.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from live_numbers.canvas import CUT, EDGE, GRID, INK, PAPER, SERIES, SIZE, WIDTH, canvas, finish, inside, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PLOT, _BLOCK = 220.0, 50.0  # the heights of the field of a chart and of a block of a strip
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.2, 1.8)), (0, (7, 2, 1.2, 2)))
_MARKERS = ("o", "s", "^", "D")


@dataclass(frozen=True)
class Line:
    """One curve, with the ends of its intervals where it has any.

    Attributes:
        name: What the legend calls it.
        y: Its values, one for each x.
        low: The lower ends of the intervals; empty for none.
        high: The upper ends of the intervals; empty for none.
    """

    name: str
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class Part:
    """One block of a strip.

    Attributes:
        size: Its tokens; the width of the block is proportional to them.
        label: Its name: written in the blocks if they all fit, and shown under the pointer.
        state: Whether the model gets it (sent), does not (cut), or it is empty room for the reply.
    """

    size: int
    label: str
    state: Literal["sent", "cut", "room"]


def line_chart(
    x: Sequence[float],
    lines: Sequence[Line],
    *,
    x_label: str,
    y_label: str,
    name: str,
    title: str,
    y_unit: str = "",
) -> str:
    """Draw one to four curves over the same x.

    Args:
        x: At least two values, increasing.
        lines: The curves.
        x_label: What x counts.
        y_label: What y counts.
        name: Begins every id in the picture; unique on its page.
        title: The alternative text.
        y_unit: "bytes" for ticks such as 2 GiB, or "" for plain numbers.

    Returns:
        The picture, one ``<svg>`` on one line.

    Raises:
        ValueError: The values do not make a chart, or a text is too long for the picture.
    """
    _check(x, lines, y_unit)
    with canvas() as (figure, axes):
        for number, (line, colour) in enumerate(zip(lines, SERIES, strict=False)):
            if line.low:
                band = [*line.low, *reversed(line.high)]
                axes.fill([*x, *reversed(x)], band, color=colour, alpha=0.16, linewidth=0)
            axes.plot(
                x, line.y, color=colour, linestyle=_DASHES[number], linewidth=2, label=line.name, zorder=3,
                marker=_MARKERS[number], markersize=5.5, markeredgewidth=1.5, markevery=-(-len(x) // 24),
                markerfacecolor=PAPER if number % 2 else colour,
            )  # fmt: skip

        y = [value for line in lines for value in (*line.y, *line.low, *line.high)]
        rows = _binary_ticks(max(y)) if y_unit else _ticks(min(0, *y), max(0, *y) if any(y) else 1, 5)
        axes.set_xmargin(0.02)
        _field(figure, axes, x, rows, x_label, y_label, _legend(figure, len(lines)))
        return finish(figure, name, title)


def timeline(
    messages: Sequence[int],
    levels: Sequence[int],
    warned: Collection[int],
    flushed: Collection[int],
    room: int,
    *,
    x_label: str,
    y_label: str,
    level_label: str,
    warned_label: str,
    flushed_label: str,
    room_label: str,
    name: str,
    title: str,
) -> str:
    """Draw how full a window is after each message, with its warnings and flushes.

    Args:
        messages: Their numbers, each one more than the one before.
        levels: How much the window holds after each message.
        warned: The messages after which the warning stands.
        flushed: The messages that made the window overflow.
        room: How much the window can hold.
        x_label: What the messages are called.
        y_label: What the levels count.
        level_label: What a level without a warning is called in the legend.
        warned_label: What a level with a warning is called there.
        flushed_label: What a flush is called there.
        room_label: What the line of the full window is called there.
        name: Begins every id in the picture; unique on its page.
        title: The alternative text.

    Returns:
        The picture, one ``<svg>`` on one line.

    Raises:
        ValueError: The values do not make a timeline, or a text is too long for the picture.
    """
    if len(messages) < 2 or any(after != before + 1 for before, after in pairwise(messages)):
        raise ValueError("a timeline needs at least two messages, each number one more than the one before")
    if len(levels) != len(messages) or min(levels) < 0 or max(levels) > room:
        raise ValueError(f"a timeline needs a level for each message, from 0 to {room}")
    if outside := sorted({*warned, *flushed} - {*messages}):
        raise ValueError(f"message {outside[0]} is not among {messages[0]} to {messages[-1]}")
    looks: dict[bool, dict[str, Any]] = {
        False: {"facecolor": SERIES[0], "linewidth": 0, "label": level_label},
        True: {"facecolor": PAPER, "edgecolor": SERIES[1], "hatch": "////", "linewidth": 1, "label": warned_label},
    }
    with canvas() as (figure, axes):
        for warning, run in groupby(zip(messages, levels, strict=True), lambda pair: pair[0] in warned):
            pairs = list(run)
            edges = [edge for number, _ in pairs for edge in (number - 0.5, number + 0.5)]
            heights = [level for _, level in pairs for _ in range(2)]
            axes.fill([edges[0], *edges, edges[-1]], [0, *heights, 0], **looks[warning])
            looks[warning].pop("label", None)  # once in the legend
        axes.axhline(room, color=INK, linestyle=(0, (5, 3)), linewidth=1.2, label=room_label)
        if flushed:
            axes.plot(
                sorted(flushed), [room * 1.07] * len(flushed), color=SERIES[3], linestyle="none", marker="v",
                markersize=7, label=flushed_label,
            )  # fmt: skip
        kinds = len({number in warned for number in messages}) + 1 + bool(flushed)
        rows = {float(tick): f"{tick:,}" for tick in sorted({0, room // 2, room})}
        axes.set_xlim(messages[0] - 0.5, messages[-1] + 0.5)
        _field(figure, axes, messages, rows, x_label, y_label, _legend(figure, kinds), top=1.12)
        return finish(figure, name, title)


def _field(
    figure: "Figure",
    axes: "Axes",
    x: Sequence[float],
    rows: Mapping[float, str],
    x_label: str,
    y_label: str,
    legend: float,
    top: float = 1.0,
) -> None:
    """Set the field of a chart: its ticks and labels, and the height of the picture under a legend."""
    left = max(map(text_width, rows.values())) + 2 * EDGE
    for most in range(6, 0, -1):  # as many x ticks as there is room for
        ticks = _ticks(x[0], x[-1], most, whole=all(float(value).is_integer() for value in x))
        columns = {place: text for place, text in ticks.items() if x[0] <= place <= x[-1]}
        plot = WIDTH - left - max(map(text_width, columns.values()), default=0) / 2 - EDGE
        if sum(text_width(text) + SIZE for text in columns.values()) <= plot:
            break
    above, below = legend + 2.8 * SIZE, 3.4 * SIZE
    height = math.ceil(above + _PLOT + below)
    figure.set_size_inches(WIDTH / 72, height / 72)
    axes.set_position((left / WIDTH, below / height, plot / WIDTH, _PLOT / height))
    axes.set_ylim(min(rows), max(rows) * top)
    axes.set_xticks(list(columns), list(columns.values()))
    axes.set_yticks(list(rows), list(rows.values()))
    axes.tick_params("x", colors=INK, length=4, pad=4)
    axes.tick_params("y", colors=INK, length=0, pad=EDGE)
    axes.grid(axis="y", color=GRID, linewidth=1)
    axes.spines["bottom"].set_color(INK)
    axes.spines[["top", "right", "left"]].set_visible(False)
    figure.text(inside(left + plot / 2, x_label) / WIDTH, 7 / height, x_label, ha="center", color=INK)
    inside(0, y_label)
    figure.text(EDGE / WIDTH, 1 - (above - SIZE) / height, y_label, color=INK)


def bar_strip(
    parts: Sequence[Part],
    *,
    name: str,
    title: str,
    window_label: str = "",
    cut_label: str = "",
    sent_label: str = "",
    room_label: str = "",
) -> str:
    """Draw consecutive blocks of tokens, and above them the window that they have to fit into.

    A number that is wider than its block stands below the strip, joined to its block by a line.

    Args:
        parts: The blocks, from the oldest to the newest.
        name: Begins every id in the picture; unique on its page.
        title: The alternative text.
        window_label: The text over the bracket, which spans what is not cut; without it there is none.
        cut_label: What the blocks that are cut are called; "" for nothing.
        sent_label: What the blocks that are sent are called; "" for nothing.
        room_label: What the empty room is called; "" for nothing.

    Returns:
        The picture, one ``<svg>`` on one line.

    Raises:
        ValueError: The blocks do not make a strip, or a text is too long for the picture.
    """
    if not parts or min(part.size for part in parts) < 1:
        raise ValueError("a strip needs blocks, each of at least one token")
    kept = [number for number, part in enumerate(parts) if part.state != "cut"]
    if window_label and not kept:
        raise ValueError("every block is cut: there is nothing for the window to hold")
    scale = (WIDTH - 2 * EDGE) / sum(part.size for part in parts)
    edges = [EDGE + scale * tokens for tokens in accumulate((part.size for part in parts), initial=0)]
    captions = {"cut": cut_label, "sent": sent_label, "room": room_label}

    with canvas() as (figure, axes):
        y = EDGE
        if window_label:
            _window(axes, edges, kept, window_label)
            y = 36

        beside = []  # what stands below the strip: the middles of the blocks, and their numbers
        named = all(text_width(part.label) <= part.size * scale - 4 for part in parts if part.label)
        for part, (start, end) in zip(parts, pairwise(edges), strict=True):
            size, middle = f"{part.size:,}", (start + end) / 2
            _block(axes, start, end, y, _BLOCK, part.state, tip=part.label)
            look: dict[str, Any] = {"color": {"sent": PAPER, "cut": CUT, "room": INK}[part.state]}
            if part.state == "cut":  # keep the hatching away from the digits
                look["bbox"] = {"boxstyle": "square,pad=0.12", "facecolor": PAPER, "edgecolor": "none"}
            if named and part.label:
                axes.text(middle, y + 21, part.label, ha="center", **look)
            if text_width(size) <= part.size * scale - 4:
                axes.text(middle, y + (40 if named and part.label else 30), size, ha="center", **look)
            else:
                beside.append((middle, size))
        y += _BLOCK
        if beside:
            places = _spread([middle for middle, _ in beside], [text_width(size) + 5 for _, size in beside])
            for place, (middle, size) in zip(places, beside, strict=True):
                steps = [y + 2, y + 5, y + 15, y + 18]
                axes.plot([middle, middle, place, place], steps, color=INK, linewidth=0.8)
                axes.text(place, y + 31, size, ha="center", color=INK)
            y += 34

        spans: dict[str, list[float]] = {}  # the ends of the blocks of each state that has a caption
        for part, ends in zip(parts, pairwise(edges), strict=True):
            if captions[part.state]:
                spans.setdefault(part.state, []).extend(ends)
        widths = {state: text_width(captions[state]) + 38 for state in spans}
        for row in [[*spans]] if sum(widths.values()) <= WIDTH else [[state] for state in spans]:
            y += 24
            wanted = [(min(spans[state]) + max(spans[state])) / 2 if row == [*spans] else 0 for state in row]
            for state, middle in zip(row, _spread(wanted, [widths[state] for state in row]), strict=True):
                start = middle - widths[state] / 2 + 7
                _block(axes, start, start + 18, y - 11, 12, state)
                axes.text(start + 25, y, captions[state], color=INK)
        figure.set_size_inches(WIDTH / 72, (y + 7) / 72)
        axes.set_axis_off()
        axes.set_xlim(0, WIDTH)
        axes.set_ylim(y + 7, 0)
        return finish(figure, name, title)


def _check(x: Sequence[float], lines: Sequence[Line], y_unit: str) -> None:
    """Refuse what would draw a wrong chart."""
    if not 1 <= len(lines) <= len(SERIES):
        raise ValueError(f"a chart has 1 to {len(SERIES)} curves, not {len(lines)}")
    if y_unit not in ("", "bytes"):
        raise ValueError(f'y_unit is "" or "bytes", not {y_unit!r}')
    if len(x) < 2 or not all(map(math.isfinite, x)) or any(after <= before for before, after in pairwise(x)):
        raise ValueError("x needs at least two finite values, each greater than the one before")
    for line in lines:
        if len(line.y) != len(x):
            raise ValueError(f"{line.name!r} has {len(line.y)} values for {len(x)} values of x")
        if (len(line.low), len(line.high)) not in ((0, 0), (len(x), len(x))):
            raise ValueError(f"{line.name!r} needs as many ends of intervals, low and high, as it has values")
        if not all(map(math.isfinite, [*line.y, *line.low, *line.high])):
            raise ValueError(f"{line.name!r} has a value that is not a finite number")
        if any(low > high for low, high in zip(line.low, line.high, strict=True)):
            raise ValueError(f"{line.name!r} has an interval whose low end is above its high end")
        if y_unit and min(*line.y, *line.low) < 0:
            raise ValueError(f"{line.name!r} has fewer than zero bytes")


def _ticks(low: float, high: float, most: int, whole: bool = False) -> dict[float, str]:
    """Choose round ticks that enclose the values; give each with its text."""
    from matplotlib.ticker import MaxNLocator

    places = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=whole).tick_values(low, high)
    words = [f"{round(place, 9) + 0:,.9f}".rstrip("0").rstrip(".") for place in places]
    return {float(p): word.replace("-", "\N{MINUS SIGN}") for p, word in zip(places, words, strict=True)}


def _binary_ticks(high: float) -> dict[float, str]:
    """Choose ticks from 0 to at least `high` bytes, a power of two apart; give each with its text."""
    step = 2 ** max(0, math.ceil(math.log2(max(high, 1) / 5)))
    ticks = {0.0: "0"}
    for place in range(step, math.ceil(max(high, 1) / step) * step + 1, step):
        power = (place.bit_length() - 1) // 10
        ticks[float(place)] = f"{place / 1024**power:g} {('B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB')[power]}"
    return ticks


def _legend(figure: "Figure", curves: int) -> float:
    """Put the legend at the top, in as few rows as its texts allow; give its height."""
    for columns in sorted({curves, -(-curves // 2), 1}, reverse=True):
        legend = figure.legend(
            loc="upper left", ncols=columns, frameon=False, labelcolor=INK, borderpad=0, borderaxespad=0.3,
            handlelength=2.6, handletextpad=0.5, columnspacing=1.6, labelspacing=0.35,
        )  # fmt: skip
        extent = legend.get_window_extent()
        if extent.width <= WIDTH - 2 * EDGE:
            return float(extent.height)
        legend.remove()
    raise ValueError("too long for the picture: the name of a curve")


def _block(axes: "Axes", start: float, end: float, y: float, tall: float, state: str, tip: str = "") -> None:
    """Draw one block, with a little air to its neighbours."""
    from matplotlib.patches import Rectangle

    air = min(1.0, (end - start) / 5)
    looks: dict[str, dict[str, Any]] = {
        "sent": {"facecolor": SERIES[0], "edgecolor": "none", "linewidth": 0},
        "cut": {"fill": False, "edgecolor": CUT, "hatch": "//", "linestyle": (0, (3, 2))},
        "room": {"fill": False, "edgecolor": INK, "linestyle": (0, (4, 3)), "linewidth": 1.2},
    }
    block = axes.add_patch(Rectangle((start + air, y), end - start - 2 * air, tall, **looks[state]))
    if tip:
        block.set_gid(f"tip:{tip}")


def _window(axes: "Axes", edges: Sequence[float], kept: Sequence[int], label: str) -> None:
    """Draw the bracket over the blocks that are kept, with its text."""
    middle = inside((edges[kept[0]] + edges[kept[-1] + 1]) / 2, label)
    axes.text(middle, 15, label, ha="center", color=INK)
    for cut, run in groupby(range(kept[0], kept[-1] + 1), lambda number: number not in kept):
        numbers = list(run)
        start, end = edges[numbers[0]] + 1, edges[numbers[-1] + 1] - 1
        if cut:  # the bracket bridges what is cut out of its middle
            axes.plot([start - 2, end + 2], [24, 24], color=INK, linewidth=1.2, linestyle=(0, (2, 3)))
        else:
            axes.plot([start, start, end, end], [31, 24, 24, 31], color=INK, linewidth=1.2)


def _spread(centres: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Move centres along a row as little as it takes for things of these widths not to overlap."""
    free = WIDTH - sum(widths)
    if free < 0:
        raise ValueError("what stands below the strip is too wide for the picture")
    offsets = [end - width / 2 for end, width in zip(accumulate(widths), widths, strict=True)]
    pools: list[list[float]] = []  # things that touch: how far each wants to be moved from the packed row
    for centre, offset in zip(centres, offsets, strict=True):
        pools.append([min(max(centre - offset, 0), free)])
        while len(pools) > 1 and fmean(pools[-2]) > fmean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    shifts = [fmean(pool) for pool in pools for _ in pool]
    return [offset + shift for offset, shift in zip(offsets, shifts, strict=True)]
