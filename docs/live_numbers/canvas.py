"""What all pictures are drawn on: a canvas with the same settings everywhere, and its way into one line of SVG.

A picture is one ``<svg class="ln-svg">`` on one line, without a width: the stylesheet says how wide it is. Its text is
real text in the font of the page. Its colours are `currentColor` and these CSS variables:

* ``--ln-paper``: the background of the page (inside hollow markers, behind and on blocks);
* ``--ln-grid``: the lines behind a chart;
* ``--ln-series-1`` to ``--ln-series-4``: curves, and kinds of messages; blocks that are sent have the first;
* ``--ln-cut``: what was left out.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

from lxml import etree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# All lengths are units of the viewBox: 14 of them are 10 px on a phone and 17 px at 560 px.
WIDTH, EDGE, SIZE = 460.0, 4.0, 14.0

# matplotlib knows no CSS variable: it draws in these colours, which are replaced afterwards.
INK, GRID, CUT, PAPER = "#000001", "#000002", "#000003", "#000004"
SERIES = ("#000011", "#000012", "#000013", "#000014")
_COLOURS = {INK: "currentColor", GRID: "var(--ln-grid)", CUT: "var(--ln-cut)", PAPER: "var(--ln-paper)"}
_COLOURS |= {colour: f"var(--ln-series-{number})" for number, colour in enumerate(SERIES, 1)}

SVG = "{http://www.w3.org/2000/svg}"


@contextmanager
def canvas() -> Iterator[tuple["Figure", "Axes"]]:
    """Give an empty figure with axes, under settings that are the same on every machine."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "pictures", "text.parse_math": False}
    settings |= {"path.simplify": False, "font.size": SIZE, "legend.fontsize": SIZE}
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings | {"axes.axisbelow": True, "hatch.linewidth": 0.8})
        figure = Figure(figsize=(WIDTH / 72, 1), dpi=72)
        FigureCanvasSVG(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        figure.patch.set_visible(False)
        axes.patch.set_visible(False)
        yield figure, axes


@cache
def text_width(text: str) -> float:
    """Measure a text in DejaVu Sans, which is wider than nearly every font that a page may have."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    return float(text_to_path.get_text_width_height_descent(text, FontProperties(size=SIZE), False)[0])


def inside(middle: float, text: str) -> float:
    """Move the middle of a text as little as it takes for the picture to hold all of the text."""
    half = text_width(text) / 2 + EDGE
    if half > WIDTH / 2:
        raise ValueError(f"too long for the picture: {text!r}")
    return min(max(middle, half), WIDTH - half)


def texts(svg: str) -> list[str]:
    """Give the visible text of a picture, in the order of the document.

    Args:
        svg: A picture, as `finish` made it.

    Returns:
        One string for each text element; the alternative text is not among them.
    """
    return ["".join(element.itertext()) for element in etree.fromstring(svg).iter(f"{SVG}text")]


def finish(figure: "Figure", name: str, title: str) -> str:
    """Turn what was drawn into one line of SVG that can stand on a page with others."""
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise ValueError(f"not a name for a picture (small letters, digits, hyphens): {name!r}")
    if not title.strip():
        raise ValueError(f"the picture {name!r} needs an alternative text")
    file = BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    root = etree.fromstring(file.getvalue(), etree.XMLParser(remove_blank_text=True, remove_comments=True))
    etree.strip_elements(root, f"{SVG}metadata", f"{SVG}style", f"{SVG}clipPath")
    etree.strip_attributes(root, "clip-path")
    targets = re.findall(r'(?:href="|url\()#([^")]+)', etree.tostring(root, encoding="unicode"))
    ids = {target: f"{name}-{number}" for number, target in enumerate(dict.fromkeys(targets), 1)}

    for element in list(root.iter()):
        if element.get("id", "").startswith("tip:"):
            etree.SubElement(element[0], f"{SVG}title").text = element.get("id")[4:]
        _rewrite(element, ids)
    for group in list(root.iter(f"{SVG}g", f"{SVG}defs")):
        uses = group.findall(f"{SVG}use")
        if len(uses) > 1:  # say once what the markers of a curve have in common
            group.attrib.update({k: v for k, v in uses[0].items() if k not in ("href", "x", "y")})
            for use in uses:
                etree.strip_attributes(use, *group.attrib)
        elif group.tag.endswith("g") or not len(group):
            group.tag = "needless"
    etree.strip_tags(root, "needless")

    box = root.get("viewBox")
    root.attrib.clear()
    root.attrib.update({"class": "ln-svg", "viewBox": box, "role": "img", "aria-labelledby": f"{name}-title"})
    root.attrib.update({"font-family": "inherit", "font-size": f"{SIZE:g}", "stroke-linejoin": "round"})
    label = etree.Element(f"{SVG}title", id=f"{name}-title")
    label.text = " ".join(title.split())
    root.insert(0, label)
    etree.cleanup_namespaces(root)
    return str(etree.tostring(root, encoding="unicode")).replace("\n", " ")


def _rewrite(element: Any, ids: dict[str, str]) -> None:
    """Turn the style of an element into short attributes, with colours and ids that suit a page."""
    attributes = dict(element.attrib)
    style = attributes.pop("style", "")
    attributes |= dict(declaration.split(": ", 1) for declaration in style.split("; ") if declaration)
    element.attrib.clear()
    for key, value in attributes.items():
        if key == "id":
            value = ids.get(value, "")
        elif key in ("font-family", "font-size", "stroke-dashoffset") or value.startswith("rotate(-0 "):
            value = ""
        elif key.endswith("href"):
            key, value = "href", "#" + ids[value[1:]]
        elif value.startswith("url("):
            value = f"url(#{ids[value[5:-1]]})"
        elif key in ("d", "x", "y"):
            value = re.sub(r"-?\d+\.\d+", lambda number: f"{round(float(number[0]), 2):g}", value)
            value = re.sub(r"\s*([A-Za-z])\s*", r"\1", value).strip()
        if value:
            element.set(key, _COLOURS.get(value, value))
