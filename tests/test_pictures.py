"""Do the pictures show the data, in SVG that can stand in a page with others, in either palette?"""

import math
import os
import re
import subprocess
import sys
from itertools import combinations, pairwise

import pytest
from lxml import etree

from live_numbers.canvas import texts
from live_numbers.diagrams import assembly, message_rows, sequence
from live_numbers.pictures import Line, Part, bar_strip, line_chart, timeline
from tests.tiny_site import TinySite

SVG = "{http://www.w3.org/2000/svg}"
COUNT = list(range(1, 21))
SQUARES = [50 * count**2 for count in COUNT]
STRAIGHT = [450 * count for count in COUNT]


def chart(name: str = "read", lines: list[Line] | None = None, **changes: object) -> str:
    """Draw a chart of two curves, or of those given."""
    lines = [Line("whole history", SQUARES), Line("a window", STRAIGHT)] if lines is None else lines
    words = {"x_label": "messages", "y_label": "tokens", "title": "Tokens read by <the model> & co"}
    return line_chart(**{"x": COUNT, "lines": lines, "name": name, **words, **changes})


def strip(name: str = "strip", sizes: tuple[int, ...] = (30, 20, 40, 25, 35, 40), **changes: object) -> str:
    """Draw a strip whose first two blocks are cut and whose last one is the room for the reply."""
    states = ["cut", "cut", *["sent"] * (len(sizes) - 3), "room"]
    parts = [
        Part(size, f"block {number}", state) for number, (size, state) in enumerate(zip(sizes, states, strict=True))
    ]
    words = {"window_label": "140-token window", "cut_label": "forgotten", "sent_label": "read"}
    return bar_strip(parts, **{"name": name, "title": "Strip", "room_label": "reply", **words, **changes})


def filling(**changes: object) -> str:
    """Draw a window of four, half of which is flushed when a fifth message comes."""
    values = {
        "messages": range(1, 8),
        "levels": [1, 2, 3, 4, 2, 3, 4],
        "warned": [3, 4, 6, 7],
        "flushed": [5],
        "room": 4,
    }
    words = {"x_label": "so far", "y_label": "in the window", "level_label": "filling", "warned_label": "warned"}
    words |= {"flushed_label": "flush", "room_label": "full", "name": "fill", "title": "Filling"}
    return timeline(**{**values, **words, **changes})


BANDS = [Line(str(n), [n] * 20, low=[n - 1] * 20, high=[n + 0.5] * 20) for n in range(4)]
DIAGRAMS = [
    message_rows({"first": ["system", "user"], "none": []}, name="rows", title="Rows"),
    sequence(["you", "bot"], [("you", "bot", "hello"), ("bot", "think"), ("bot", "you", "hi")], name="seq", title="S"),
    assembly([("a file", "system prompt")], name="parts", title="Parts", from_label="kept", to_label="sent"),
]
PICTURES = [
    chart(),
    chart("bands", BANDS),
    chart("bytes", y_unit="bytes"),
    strip(),
    strip("other"),
    filling(),
    *DIAGRAMS,
]


def numbers(path: str) -> list[tuple[float, float]]:
    """Read the points of a path of straight lines."""
    found = [float(number) for number in re.findall(r"-?[\d.]+", path)]
    return list(zip(found[::2], found[1::2], strict=True))


def curve(svg: str, number: int) -> list[tuple[float, float]]:
    """Read the points of the longest stroke in the colour of a curve."""
    strokes = etree.fromstring(svg).iterfind(f".//{SVG}path[@stroke='var(--ln-series-{number})'][@fill='none']")
    return max((numbers(stroke.get("d")) for stroke in strokes), key=len)


def test_the_same_input_gives_the_same_bytes() -> None:
    """If this failed, every build would change pages in which nothing has changed."""
    assert chart() == chart()
    assert strip() == strip()


@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_order_of_hashes_changes_nothing(seed: str) -> None:
    """If this failed, two machines would build different pages from the same files."""
    code = (
        "from live_numbers.pictures import *; import sys;"
        "c = line_chart([1, 2], [Line('a', [1, 2]), Line('b', [2, 1])],"
        " x_label='x', y_label='y', name='c', title='t');"
        "s = bar_strip([Part(3, 'a', 'cut'), Part(4, 'b', 'sent')], name='s', title='t', cut_label='cut');"
        "sys.stdout.buffer.write((c + s).encode())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        check=True,
    )
    lines = [Line("a", [1, 2]), Line("b", [2, 1])]
    here = line_chart([1, 2], lines, x_label="x", y_label="y", name="c", title="t")
    here += bar_strip([Part(3, "a", "cut"), Part(4, "b", "sent")], name="s", title="t", cut_label="cut")
    assert run.stdout.decode() == here


def test_matplotlib_is_not_imported_before_it_is_needed() -> None:
    """If this failed, every build of a page without pictures would wait for matplotlib."""
    code = "import sys, live_numbers.pictures, live_numbers.diagrams; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_settings_of_matplotlib_are_left_alone_and_have_no_say() -> None:
    """If this failed, a picture would depend on what else had been drawn, or change it."""
    import matplotlib

    with matplotlib.rc_context({"font.size": 31, "lines.linewidth": 9, "axes.grid": True}):
        assert [chart(), strip()] == [PICTURES[0], PICTURES[3]]
        assert matplotlib.rcParams["font.size"] == 31


@pytest.mark.parametrize("svg", PICTURES)
def test_a_picture_is_one_line_of_svg_and_nothing_else(svg: str) -> None:
    """If this failed, Markdown would break the picture up, or the page would get foreign elements."""
    root = etree.fromstring(svg)
    assert "\n" not in svg
    assert svg.startswith("<svg ")
    assert svg.endswith("</svg>")
    assert root.tag == f"{SVG}svg"
    kinds = {etree.QName(element).localname for element in root.iter()}
    assert kinds <= {"svg", "title", "g", "defs", "path", "use", "text", "pattern", "rect"}
    assert len(svg.encode()) < (14_000 if "bands" in svg else 8_000)


@pytest.mark.parametrize("svg", PICTURES)
def test_a_picture_leaves_size_font_and_colours_to_the_page(svg: str) -> None:
    """If this failed, the picture would ignore the dark palette, the font or the width of the page."""
    root = etree.fromstring(svg)
    assert root.get("class") == "ln-svg"
    assert root.get("viewBox").startswith("0 0 460 ")
    assert root.get("width") is root.get("height") is None
    assert root.get("font-family") == "inherit"
    values = [value for element in root.iter() for value in element.attrib.values()]
    assert not [value for value in values if re.fullmatch(r"#[0-9a-fA-F]{3,8}", value)]
    assert not [value for value in values if "DejaVu" in value or "rgb" in value]
    paints = {element.get(key) for element in root.iter() for key in ("fill", "stroke")} - {None, "none"}
    assert all(re.fullmatch(r"currentColor|var\(--ln-[a-z]+(-[1-4])?\)|url\(#[\w-]+\)", paint) for paint in paints)


@pytest.mark.parametrize("svg", PICTURES)
def test_a_picture_refers_to_nothing_outside_itself(svg: str) -> None:
    """If this failed, a page would load something from elsewhere, or lose its markers or hatching."""
    assert re.findall(r"\w+://[^\"']*", svg) == ["http://www.w3.org/2000/svg"]
    ids = {element.get("id") for element in etree.fromstring(svg).iter()} - {None}
    referred = set(re.findall(r'(?:href="#|url\(#|aria-labelledby=")([\w-]+)', svg))
    assert referred == ids


def test_pictures_with_different_names_share_no_id() -> None:
    """If this failed, a picture would show the markers or the hatching of another one on its page."""
    ids = [re.findall(r' id="([^"]+)"', svg) for svg in PICTURES]
    assert all(ids)
    for one, other in combinations(ids, 2):
        assert len({*one, *other}) == len(one) + len(other)


def test_the_alternative_text_names_the_picture() -> None:
    """If this failed, a screen reader would have nothing to say for the picture."""
    root = etree.fromstring(chart())
    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert root[0].get("id") == root.get("aria-labelledby") == "read-title"
    assert root[0].text == "Tokens read by <the model> & co"


def test_texts_are_all_that_can_be_read_in_the_picture() -> None:
    """If this failed, the record of what a picture says would lack something or hold too much."""
    words = ["messages", "a $b$ & c", "whole history", "a window"]
    assert sorted(texts(chart(y_label="a $b$ & c"))) == sorted(
        ["5", "10", "15", "20", "0", "5,000", "10,000", "15,000", "20,000", *words]
    )
    sizes = ["30", "20", "40", "25", "35", "40"]
    assert texts(strip()) == ["140-token window", *sizes, "forgotten", "read", "reply"]


def test_labels_stand_in_the_blocks_where_all_fit_and_under_the_pointer_always() -> None:
    """If this failed, a label would run over the edge of its block, or be nowhere."""
    wide = [Part(50, "you", "sent"), Part(50, "model", "sent")]
    narrow = [Part(1, "you", "sent"), Part(50, "model", "sent")]
    assert texts(bar_strip(wide, name="s", title="t")) == ["you", "50", "model", "50"]
    svg = bar_strip(narrow, name="s", title="t")
    assert texts(svg) == ["50", "1"]
    assert [title.text for title in etree.fromstring(svg).iter(f"{SVG}title")] == ["t", "you", "model"]


@pytest.mark.parametrize(("number", "values"), [(1, SQUARES), (2, STRAIGHT)])
def test_a_curve_passes_through_its_data(number: int, values: list[int]) -> None:
    """If this failed, the picture would show other numbers than its ticks say."""
    svg = chart()
    root = etree.fromstring(svg)
    words = [(text.text.replace(",", ""), float(text.get("x"))) for text in root.iter(f"{SVG}text")]
    across = {float(word): x for word, x in words[:4]}
    grid = root.iterfind(f".//{SVG}path[@stroke='var(--ln-grid)']")
    up = dict(zip((0, 5_000, 10_000, 15_000, 20_000), (numbers(g.get("d"))[0][1] for g in grid), strict=True))
    points = curve(svg, number)
    assert len(points) == len(COUNT)
    for (x, y), count, value in zip(points, COUNT, values, strict=True):
        assert 5 + 15 * (x - across[5]) / (across[20] - across[5]) == pytest.approx(count, abs=0.002)
        assert 20_000 * (y - up[0]) / (up[20_000] - up[0]) == pytest.approx(value, abs=2)


def test_a_curve_of_many_points_keeps_them_all() -> None:
    """If this failed, a long curve would be drawn through fewer points than were measured."""
    many = list(range(300))
    assert len(curve(chart(x=many, lines=[Line("a", many)]), 1)) == 300


def test_a_band_runs_along_the_ends_of_its_intervals() -> None:
    """If this failed, the intervals would seem narrower or wider than they are."""
    svg = chart(lines=[Line("a", [5] * 20, low=[0] * 20, high=[10] * 20)])
    (band,) = etree.fromstring(svg).iterfind(f".//{SVG}path[@opacity]")
    heights = {y for _, y in numbers(band.get("d"))}
    assert max(heights) - min(heights) == pytest.approx(220, abs=0.1)
    assert len(heights) == 2


@pytest.mark.parametrize("sizes", [(30, 20, 40, 25, 35, 40), (1, 60, 1, 1, 60, 7), (1, 2, 3) * 6])
def test_blocks_are_as_wide_as_their_tokens(sizes: tuple[int, ...]) -> None:
    """If this failed, the strip would give the wrong idea of what takes up the window."""
    root = etree.fromstring(strip(sizes=sizes))
    titled = [title.getparent() for title in root.iter(f"{SVG}title") if title.get("id") is None]
    middles = [(min(xs) + max(xs)) / 2 for xs in ([x for x, _ in numbers(p.get("d"))] for p in titled)]
    scale = 452 / sum(sizes)
    expected = [4 + scale * (sum(sizes[:number]) + size / 2) for number, size in enumerate(sizes)]
    assert middles == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("sizes", [(1, 60, 2, 3, 1, 45, 1, 1, 60, 5, 8, 2, 60, 1, 1, 33, 2, 1, 12, 60), (1,) * 20])
def test_every_number_of_a_crowded_strip_has_a_place_of_its_own(sizes: tuple[int, ...]) -> None:
    """If this failed, numbers would stand on top of each other, or one would be missing."""
    svg = strip(sizes=sizes)
    digits = [text for text in etree.fromstring(svg).iter(f"{SVG}text") if text.text.isdigit()]
    assert sorted(int(text.text) for text in digits) == sorted(sizes)
    rows: dict[str, list[tuple[float, float]]] = {}
    for text in digits:
        half = 4.5 * len(text.text)  # a digit of 14 units is 9 wide in the widest of the usual fonts
        rows.setdefault(text.get("y"), []).append((float(text.get("x")) - half, float(text.get("x")) + half))
    for row in rows.values():
        row.sort()
        assert row[0][0] >= 0
        assert row[-1][1] <= 460
        assert all(one[1] <= other[0] for one, other in pairwise(row))


def test_what_was_cut_differs_in_more_than_colour() -> None:
    """If this failed, readers who see no colours could not tell what the model forgot."""
    root = etree.fromstring(strip())
    looks = [title.getparent().attrib for title in root.iter(f"{SVG}title") if title.get("id") is None]
    cut, sent, room = looks[0], looks[2], looks[5]
    colours = [text.get("fill") for text in root.iter(f"{SVG}text") if text.text.isdigit()]
    assert colours == ["var(--ln-cut)"] * 2 + ["var(--ln-paper)"] * 3 + ["currentColor"]
    assert cut["fill"].startswith("url(#strip-")
    assert "stroke-dasharray" in cut
    assert sent["fill"] == "var(--ln-series-1)"
    assert room["fill"] == "none"
    assert "stroke-dasharray" in room


def test_curves_differ_in_more_than_colour() -> None:
    """If this failed, readers who see no colours could not tell the curves apart."""
    root = etree.fromstring(chart("bands", BANDS))
    strokes = [path for path in root.iter(f"{SVG}path") if path.get("stroke-width") == "2"][:4]
    assert len({path.get("stroke-dasharray") for path in strokes}) == 4
    outlines = {use.get("href") for use in root.iter(f"{SVG}use")}
    assert len({path.get("d") for path in root.iter(f"{SVG}path") if "#" + path.get("id", "") in outlines}) >= 5


@pytest.mark.parametrize(
    ("most", "ticks"),
    [
        (24_159_191_040, ["0", "8 GiB", "16 GiB", "24 GiB"]),
        (3 * 2**30, ["0", "1 GiB", "2 GiB", "3 GiB"]),
        (2**30 + 2**29, ["0", "512 MiB", "1 GiB", "1.5 GiB"]),
        (3, ["0", "1 B", "2 B", "3 B"]),
        (0, ["0", "1 B"]),
    ],
)
def test_ticks_for_bytes_are_binary(most: float, ticks: list[str]) -> None:
    """If this failed, the ticks for bytes would not be the numbers that the text speaks of."""
    svg = line_chart([0, 1], [Line("a", [0, most])], x_label="x", y_label="y", name="a", title="t", y_unit="bytes")
    assert texts(svg)[2:-3] == ticks


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        (
            [0, 1e10],
            ["0", "2,000,000,000", "4,000,000,000", "6,000,000,000", "8,000,000,000", "10,000,000,000"],
        ),
        ([0, 0], ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        ([0, 4e-5], ["0", "0.00001", "0.00002", "0.00003", "0.00004"]),
        ([0.1, 0.5], ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]),
        ([-30, -10], ["−30", "−20", "−10", "0"]),
    ],
)
def test_ticks_are_plain_numbers(values: list[float], ticks: list[str]) -> None:
    """If this failed, a tick would have a power of ten, a rounding error or no separators."""
    svg = line_chart([0, 1], [Line("a", values)], x_label="x", y_label="y", name="a", title="t")
    assert texts(svg)[2:-3] == ticks


def test_long_ticks_of_x_keep_apart() -> None:
    """If this failed, the numbers below a chart with large values would run into each other."""
    svg = line_chart([0, 1e10], [Line("a", [0, 1e10])], x_label="x", y_label="y", name="a", title="t")
    assert texts(svg)[:3] == ["0", "5,000,000,000", "10,000,000,000"]
    below = [text for text in etree.fromstring(svg).iter(f"{SVG}text") if text.get("text-anchor") == "middle"]
    ends = [(float(text.get("x")), 4.5 * len(text.text)) for text in below[:-1]]
    assert all(x + half < other - wide for (x, half), (other, wide) in pairwise(ends))


def test_the_bracket_bridges_what_is_cut_from_the_middle() -> None:
    """If this failed, the window would seem to hold blocks that the model never reads."""
    parts = [Part(10, "", "sent"), Part(30, "", "cut"), Part(20, "", "sent"), Part(40, "", "room")]
    svg = bar_strip(parts, name="s", title="t", window_label="window")
    strokes = [path for path in etree.fromstring(svg).iter(f"{SVG}path") if path.get("stroke-width") == "1.2"]
    spans = [
        (min(x for x, _ in numbers(path.get("d"))), max(x for x, _ in numbers(path.get("d"))))
        for path in strokes
        if max(y for _, y in numbers(path.get("d"))) < 36
    ]
    dashed = [path.get("stroke-dasharray") is not None for path in strokes][-3:]
    assert spans == [
        (pytest.approx(5), pytest.approx(4 + 45.2 - 1, abs=0.02)),
        (pytest.approx(4 + 45.2 - 1, abs=0.02), pytest.approx(4 + 4 * 45.2 + 1, abs=0.02)),
        (pytest.approx(4 + 4 * 45.2 + 1, abs=0.02), pytest.approx(455, abs=0.02)),
    ]
    assert dashed == [False, True, False]


def test_a_window_is_drawn_as_high_as_it_is_full() -> None:
    """If this failed, the picture of a window would show other fillings, warnings or flushes than were computed."""
    svg = filling()
    root = etree.fromstring(svg)
    ticks, legend = ["1", "2", "3", "4", "5", "6", "7", "0", "2", "4"], ["filling", "warned", "full", "flush"]
    assert texts(svg) == [*ticks, "so far", "in the window", *legend]
    grid = [numbers(path.get("d"))[0][1] for path in root.iterfind(f".//{SVG}path[@stroke='var(--ln-grid)']")]
    empty, full = grid[0], grid[-1]
    across = {int(text.text): float(text.get("x")) for text in list(root.iter(f"{SVG}text"))[:7]}
    filled = [path for path in root.iter(f"{SVG}path") if re.match(r"var\(--ln-series-1|url", path.get("fill") or "")]
    runs = filled[:4]  # the others are the keys of the legend
    shapes = []
    for path in runs:
        points = [(7 - 6 * (across[7] - x) / (across[7] - across[1]), 4 * (y - empty) / (full - empty))
                  for x, y in numbers(path.get("d"))]  # fmt: skip
        shapes.append([(round(x, 1), round(y, 2)) for x, y in points])
    steps = [
        [(0.5, 0), (0.5, 1), (1.5, 1), (1.5, 2), (2.5, 2), (2.5, 0)],
        [(2.5, 0), (2.5, 3), (3.5, 3), (3.5, 4), (4.5, 4), (4.5, 0)],
        [(4.5, 0), (4.5, 2), (5.5, 2), (5.5, 0)],
        [(5.5, 0), (5.5, 3), (6.5, 3), (6.5, 4), (7.5, 4), (7.5, 0)],
    ]
    assert [[point for number, point in enumerate(shape) if point not in shape[:number]] for shape in shapes] == steps
    above = [use for use in root.iter(f"{SVG}use") if full - 30 < float(use.get("y") or 0) < full]
    assert [float(flush.get("x")) for flush in above] == [pytest.approx(across[5], abs=0.1)]


def test_a_warning_differs_in_more_than_colour() -> None:
    """If this failed, readers who see no colours could not tell when the warning stands."""
    root = etree.fromstring(filling())
    fills = {path.get("fill") for path in root.iter(f"{SVG}path")}
    assert "var(--ln-series-1)" in fills
    assert any(fill and fill.startswith("url(#fill-") for fill in fills)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"messages": [1], "levels": [1]}, "at least two messages"),
        ({"messages": [1, 2, 3, 4, 5, 6, 8]}, "one more than the one before"),
        ({"levels": [1, 2]}, "a level for each message, from 0 to 4"),
        ({"levels": [1, 2, 3, 5, 2, 3, 4]}, "a level for each message, from 0 to 4"),
        ({"levels": [-1, 2, 3, 4, 2, 3, 4]}, "a level for each message, from 0 to 4"),
        ({"warned": [0]}, "message 0 is not among 1 to 7"),
        ({"flushed": [8]}, "message 8 is not among 1 to 7"),
        ({"warned_label": "a" * 60}, "too long for the picture"),
    ],
)
def test_a_window_that_would_be_drawn_wrong_is_refused(changes: dict[str, object], message: str) -> None:
    """If this failed, a wrong or broken picture of a window would be published without a word."""
    with pytest.raises(ValueError, match=message):
        filling(**changes)


def test_a_window_without_warnings_and_flushes_has_none_in_its_legend() -> None:
    """If this failed, the legend would name what is nowhere in the picture."""
    assert texts(filling(warned=[], flushed=[]))[-2:] == ["filling", "full"]


BAD_CHARTS = [
    ({"lines": []}, "1 to 4 curves, not 0"),
    ({"lines": [Line("a", COUNT)] * 5}, "1 to 4 curves, not 5"),
    ({"lines": [Line("a", [1, 2])]}, "'a' has 2 values for 20 values of x"),
    ({"lines": [Line("a", [math.nan] * 20)]}, "'a' has a value that is not a finite number"),
    ({"lines": [Line("a", COUNT, low=COUNT)]}, "as many ends of intervals"),
    ({"lines": [Line("a", COUNT, low=COUNT, high=[math.inf] * 20)]}, "not a finite number"),
    ({"lines": [Line("a", COUNT, low=COUNT, high=[0] * 20)]}, "low end is above its high end"),
    ({"lines": [Line("a", [-1] * 20)], "y_unit": "bytes"}, "fewer than zero bytes"),
    ({"lines": [Line("a" * 60, COUNT)]}, "too long for the picture: the name of a curve"),
    ({"x": []}, "at least two finite values"),
    ({"x": [1, 1]}, "each greater than the one before"),
    ({"x": [0, math.inf]}, "at least two finite values"),
    ({"y_unit": "tokens"}, "not 'tokens'"),
    ({"x_label": "a" * 60}, "too long for the picture: 'aaa"),
    ({"y_label": "a" * 60}, "too long for the picture: 'aaa"),
    ({"name": "Not a name"}, "not a name for a picture"),
    ({"title": " "}, "needs an alternative text"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_CHARTS)
def test_a_chart_that_would_be_wrong_is_refused(changes: dict[str, object], message: str) -> None:
    """If this failed, a wrong or broken chart would be published without a word."""
    with pytest.raises(ValueError, match=message):
        chart(**changes)


@pytest.mark.parametrize(
    ("parts", "words", "message"),
    [
        ([], {}, "a strip needs blocks"),
        ([Part(0, "", "sent")], {}, "at least one token"),
        ([Part(1, "", "cut")], {"window_label": "window"}, "every block is cut"),
        ([Part(1, "", "sent")], {"window_label": "a" * 60}, "too long for the picture"),
        ([Part(1, "", "sent")], {"sent_label": "a" * 60}, "too wide for the picture"),
        ([Part(1, "", "sent")] * 60, {}, "too wide for the picture"),
        ([Part(1, "", "sent")], {"name": "1"}, "not a name"),
        ([Part(1, "", "sent")], {"title": ""}, "needs an alternative text"),
    ],
)
def test_a_strip_that_would_be_wrong_is_refused(parts: list[Part], words: dict[str, str], message: str) -> None:
    """If this failed, a wrong or broken strip would be published without a word."""
    with pytest.raises(ValueError, match=message):
        bar_strip(parts, **{"name": "s", "title": "t", **words})


PAGE = """
[[% call line_chart("growth", "range(1, 4)", {"legs": (
    "[legs(n) for n in range(1, 4)]", "[legs(n) - 1 for n in range(1, 4)]", "[legs(n) + 2 for n in range(1, 4)]")},
    title="Legs", x_label="cats", y_label="legs") %]]
More cats, more legs.
[[% endcall %]]

[[% call timeline("basket", "range(1, 4)", "[legs(n) for n in range(1, 4)]", "[n for n in range(1, 4) if legs(n) > 4]",
    "[LEGS - 1]", 12, title="Basket", x_label="cats", y_label="legs in the basket", level_label="fine",
    warned_label="warned", flushed_label="emptied", room_label="full, of " ~ given(12, "B") ~ " legs") %]]
It fills.
[[% endcall %]]

[[= number("legs(12)") =]]
"""
ASSERTED = """    assert 4 * 12 == legs(12)
    assert [4 - 1, 8 - 1, 12 - 1] == [legs(n) - 1 for n in range(1, 4)]
    assert [4 + 2, 8 + 2, 12 + 2] == [legs(n) + 2 for n in range(1, 4)]
    assert [2, 3] == [n for n in range(1, 4) if legs(n) > 4]
    assert [4 - 1] == [LEGS - 1]
"""


@pytest.fixture
def drawn(site: TinySite) -> TinySite:
    """The tiny site with a chart that has intervals and with a window, accepted."""
    path = "docs/lessons/cats.md"
    site.write(path, site.path(path).read_text(encoding="utf-8") + PAGE)
    site.edit("tests/test_cats.py", "    assert 3 * 4 == legs(3)\n", "    assert 3 * 4 == legs(3)\n" + ASSERTED)
    assert site.run("accept") == 0
    return site


def test_a_page_can_draw_intervals_and_a_window(drawn: TinySite) -> None:
    """If this failed, a page could not show how certain its figures are, or how its window fills."""
    assert drawn.faults() == []
    lock = drawn.path("docs/numbers.lock").read_text(encoding="utf-8")
    assert "[legs(n) + 2 for n in range(1, 4)]" in lock
    assert '"full, of 12\u00a0B legs"' in lock.split("'picture: basket'", 1)[1].split("]", 1)[0]
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q"], cwd=drawn.root, check=True)
    html = next(drawn.path("site").rglob("cats/index.html")).read_text(encoding="utf-8")
    table = html.split('data-picture="growth"', 1)[1].split("</table>", 1)[0]
    values_with_both_ends = "1 4 3 to 6 2 8 7 to 10 3 12 11 to 14"
    assert " ".join(re.sub(r"<[^>]+>", " ", table.split("<tbody>", 1)[1]).split()) == values_with_both_ends
    table = html.split('data-picture="basket"', 1)[1].split("</table>", 1)[0]
    levels_with_what_happens = "1 4 2 8 warned 3 12 emptied, warned"
    assert " ".join(re.sub(r"<[^>]+>", " ", table.split("<tbody>", 1)[1]).split()) == levels_with_what_happens


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("[legs(n) + 2 for n in range(1, 4)]", "[legs(n) + 3 for n in range(1, 4)]", "unasserted figure"),
        (', "[legs(n) + 2 for n in range(1, 4)]"', "", "faulty picture"),
        ("[legs(n) + 2 for n in range(1, 4)]", "[legs(n) + 2 for n in range(1, 5)]", "typed figure"),
        ("[legs(n) + 2 for n in range(1, 4)]", "[legs(n) - 2 for n in range(1, 4)]", "faulty picture"),
        ("[LEGS - 1]", "[LEGS]", "faulty picture"),
        ("[LEGS - 1]", "[LEGS / 2]", "faulty picture"),
        ("[LEGS - 1]", "LEGS", "faulty series"),
        ('level_label="fine"', 'level_label="4 legs"', "typed number"),
        ('level_label="fine"', 'level_name="fine"', "faulty call"),
    ],
)
def test_a_picture_that_lies_fails_the_build(drawn: TinySite, old: str, new: str, kind: str) -> None:
    """If this failed, an interval or a window could be typed, or drawn from what nobody checks."""
    drawn.edit("docs/lessons/cats.md", old, new)
    assert kind in [fault.kind for fault in drawn.faults()]
