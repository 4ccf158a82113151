"""Do the diagrams say what the page says, in the order of the page, and refuse what they cannot draw?"""

from __future__ import annotations

import re

import pytest
from lxml import etree

from live_numbers.canvas import WIDTH, text_width, texts
from live_numbers.diagrams import assembly, message_rows, sequence, wrapped
from tests.tiny_site import TinySite

SVG = "{http://www.w3.org/2000/svg}"
CALLS = {"first call": ["system", "user"], "second call": ["system", "user", "assistant", "user"]}


def rows(calls: dict[str, list[str]], **options: str) -> str:
    """Draw the messages of calls."""
    return message_rows(calls, name="rows", title="Rows", **options)


def steps(*told: tuple[str, ...], actors: tuple[str, ...] = ("you", "bot", "store")) -> str:
    """Draw a sequence."""
    return sequence(actors, told, name="steps", title="Steps")


def filled(svg: str) -> list[bool]:
    """Whether the boxes of a picture are filled with something else than the colour of the page, in order."""
    boxes = [path for path in etree.fromstring(svg).iter(f"{SVG}path") if path.get("d", "").endswith("z")]
    return [box.get("fill") != "var(--ln-paper)" for box in boxes if box.get("fill") != "none"]


def arrows(svg: str) -> list[tuple[float, float]]:
    """Where each arrow starts and where its shaft ends, from top to bottom."""
    found = []
    for path in etree.fromstring(svg).iter(f"{SVG}path"):
        points = re.fullmatch(r"M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)", path.get("d", ""))
        if points and points[2] == points[4]:
            found.append((float(points[1]), float(points[3])))
    return found


def test_rows_show_every_message_of_every_call_in_order() -> None:
    """A message left out, or out of its place, would show a call that was never made."""
    expected = ["first call", "system", "user", "second call", "system", "user", "assistant", "user"]
    assert expected == texts(rows(CALLS))


def test_what_the_row_above_begins_with_too_is_hollow() -> None:
    """A message marked as new that was sent before would hide what the lesson is about."""
    marked = filled(rows(CALLS, new_label="new", again_label="sent again"))
    assert [True, True, False, False, True, True, True, False] == marked  # the last two are the key
    assert [True] * 6 == filled(rows(CALLS))


def test_a_message_that_differs_ends_what_is_sent_again() -> None:
    """A cut chat shares only its beginning with the call before; the rest would be wrongly called a repetition."""
    cut = {"a": ["system", "user", "assistant"], "b": ["system", "assistant", "user"]}
    marked = filled(rows(cut, new_label="new", again_label="sent again"))
    assert [True, True, True, False, True, True] == marked[:6]


def test_what_is_no_role_is_drawn_dashed_and_hollow() -> None:
    """A gap that looked like a message would be counted as one."""
    svg = rows({"cut": ["user", "(gap)"]})
    assert [True, False] == filled(svg)
    assert svg.count("stroke-dasharray") == 1


def test_a_row_without_messages_says_so() -> None:
    """An empty row would look like a mistake of the picture."""
    assert ["empty", "nothing"] == texts(rows({"empty": []}))


def test_rows_never_leave_the_picture() -> None:
    """Messages beyond the edge would be cut off, on a phone first."""
    svg = rows({"long": ["assistant calls"] * 30})
    boxes = re.findall(r'd="M([\d.]+) [\d.]+H?L?([\d.]+)', svg)
    assert 30 == len(boxes)
    assert all(float(edge) <= WIDTH for box in boxes for edge in box)


@pytest.mark.parametrize(
    ("calls", "options", "said"),
    [
        ({}, {}, "there are no rows"),
        ({"x": ["user " + "w" * 80]}, {}, "too long for the picture"),
        ({"w" * 80: ["user"]}, {}, "too long for the picture"),
        ({"x": ["user"]}, {"new_label": "new"}, "belong together"),
    ],
)
def test_rows_that_cannot_be_drawn_are_refused(calls: dict[str, list[str]], options: dict[str, str], said: str) -> None:
    """A picture that lost a part without a word would be believed."""
    with pytest.raises(ValueError, match=said):
        rows(calls, **options)


def test_a_sequence_says_who_and_what_from_top_to_bottom() -> None:
    """Steps in another order would tell another story."""
    svg = steps(("you", "bot", "hello"), ("bot", "looks it up"), ("bot", "you", "hi"))
    assert ["you", "bot", "store", "hello", "looks it up", "hi"] == texts(svg)


def test_arrows_run_from_the_one_to_the_other() -> None:
    """An arrow the wrong way round would say the opposite."""
    lane = (WIDTH - 8) / 3
    you, bot, store = (4 + lane * (number + 0.5) for number in range(3))
    ends = [(you, store - 8), (store, bot + 8)]  # a shaft ends where its head, of 8, begins
    found = arrows(steps(("you", "store", "a"), ("store", "bot", "b")))
    assert [(round(start, 2), round(end, 2)) for start, end in ends] == found


def test_an_answer_differs_in_more_than_colour() -> None:
    """Without the dashes a reader who sees no colours could not tell a question from its answer."""
    assert 3 == steps(("you", "bot", "hello")).count("stroke-dasharray")  # the three lines below the actors
    assert 4 == steps(("bot", "you", "hello")).count("stroke-dasharray")


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ([], "at least two actors and one step"),
        ([("you", "me", "hello")], "a step names me"),
        ([("you",)], "a step is"),
        ([("you", "bot", "w" * 80)], "too long for the picture"),
    ],
)
def test_a_sequence_that_cannot_be_drawn_is_refused(told: list[tuple[str, ...]], said: str) -> None:
    """A step that was left out would make the picture wrong and leave no trace."""
    with pytest.raises(ValueError, match=said):
        steps(*told)


def test_an_assembly_shows_each_place_beside_its_part() -> None:
    """A part beside the wrong place would teach the wrong table."""
    svg = assembly(
        [("table facts", "what you asked"), ("file", "rules")], name="p", title="P", from_label="kept", to_label="sent"
    )
    assert ["kept", "sent", "table facts", "what you asked", "file", "rules"] == texts(svg)
    with pytest.raises(ValueError, match="no rows"):
        assembly([], name="p", title="P", from_label="kept", to_label="sent")


def test_lines_are_as_few_as_fit_and_of_about_one_length() -> None:
    """A last line of one word looks like a mistake; a line that is too wide leaves the picture."""
    text = "read the history of the session, newest first"
    lines = wrapped(text, 200)
    assert text == " ".join(lines)
    assert all(text_width(line) <= 200 for line in lines)
    assert -(-text_width(text) // 200) == len(lines)
    assert max(map(text_width, lines)) < 1.5 * min(map(text_width, lines))


PAGE = """
[[% call message_rows("calls", {"call " ~ given(3): "['cat'] * legs(3)"}, title="Calls") %]]
Every message.
[[% endcall %]]

[[% call sequence("talk", ["cat", "vet"], [["cat", "vet", "I have " ~ number("legs(3)") ~ " legs"]], title="Talk") %]]
A talk.
[[% endcall %]]

[[= assembly("parts", [["basket", number("legs(3)") ~ " legs"]], title="Parts", from_label="at home", to_label="here",
             caption="What is where.") =]]
"""


@pytest.fixture
def drawn(site: TinySite) -> TinySite:
    """The tiny site with a diagram of each kind, accepted."""
    path = "docs/lessons/cats.md"
    site.write(path, site.path(path).read_text(encoding="utf-8") + PAGE)
    site.edit("tests/test_cats.py", "    assert 3 * 4 == legs(3)\n", "    assert 3 * 4 == legs(3)\n" + LISTED)
    assert 0 == site.run("accept")
    return site


TWELVE = ", ".join(["'cat'"] * 12)
LISTED = f"    assert [{TWELVE}] == ['cat'] * legs(3)\n"


def test_a_page_can_draw_all_three(drawn: TinySite) -> None:
    """The macros would be of no use if a page could not call them, with figures in their texts."""
    assert [] == drawn.faults()
    written = drawn.path("docs/numbers.lock").read_text(encoding="utf-8")
    for name, text in (("calls", "call 3"), ("talk", "I have 12 legs"), ("parts", "12 legs")):
        lines = written.split(f"'picture: {name}' = [", 1)[1].split("]", 1)[0]
        assert text in lines


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ('"I have " ~', '"I have 4 of " ~', "typed number"),
        ('["basket", ', '["9 baskets", ', "typed number"),
        ('["cat", "vet", "I', '["cat", "dog", "I', "faulty picture"),
        ("'cat'] * legs(3)", "'cat'] * legs(4)", "unasserted figure"),
        ('to_label="here"', 'to_label="here", of="x"', "faulty call"),
    ],
)
def test_a_diagram_that_lies_fails_the_build(drawn: TinySite, old: str, new: str, kind: str) -> None:
    """A figure in a diagram would be the one place on the site that nobody checks."""
    drawn.edit("docs/lessons/cats.md", old, new)
    assert kind in {fault.kind for fault in drawn.faults()}
