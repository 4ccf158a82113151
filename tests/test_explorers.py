"""Explorers: what a page may ask for, what it gets, and what the gate makes of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from live_numbers import command, expressions, lint
from live_numbers.build import Build
from live_numbers.project import Project
from live_numbers.typed import AllowList
from tests.tiny_site import TinySite

PATH = "docs/lessons/cats.md"
CALL = """
[[% call explorer(
    "legs",
    {"cats": "cats in range(1, 8)", "with tails": "tailed in (False, True)", "who": "who in ('a vet', 'a dog')"},
    {
        "legs": "legs(cats) + tailed",
        "who counts": "who + ' counts ' + str(legs(cats))",
        "each": (["legs", "tails"], "[legs(cats), len(tails(cats)) * tailed]"),
        "state": ("['x', 'y'][:LEGS]", "['here', 'gone' if tailed else 'here'][:LEGS]"),
    },
    start={"cats": 3, "who": "a dog"},
    gone=["gone"],
    title="How many legs?",
) %]]
Try it.
[[% endcall %]]
"""
GRID = "for cats in range(1, 8) for tailed in (False, True) for who in ('a vet', 'a dog')"
ASSERTED = f"""
def slow(cats):
    return cats + cats + cats + cats


def test_explorer():
    assert 12 == legs(3) + False
    assert [slow(cats) + tailed {GRID}] == [legs(cats) + tailed {GRID}]
    assert "a dog counts 12" == "a dog" + " counts " + str(legs(3))
    assert [who + " counts " + str(slow(cats)) {GRID}] == [who + " counts " + str(legs(cats)) {GRID}]
    assert [12, 0] == [legs(3), len(tails(3)) * False]
    assert [[slow(cats), cats * tailed] {GRID}] == [[legs(cats), len(tails(cats)) * tailed] {GRID}]
    assert ["x", "y"] == ["x", "y"][:LEGS]
    assert ["here", "here"] == ["here", "gone" if False else "here"][:LEGS]
    assert [["here", "gone" if tailed else "here"] {GRID}] == [["here", "gone" if tailed else "here"][:LEGS] {GRID}]
"""


@pytest.fixture(scope="module")
def made(good: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny site with an explorer, accepted; to be copied, not changed."""
    site = TinySite(tmp_path_factory.mktemp("explorer") / "site", copy_of=good)
    for path, text in ((PATH, CALL), ("tests/test_cats.py", ASSERTED)):
        site.write(path, site.path(path).read_text(encoding="utf-8") + text)
    assert 0 == site.run("accept")
    return site.root


@pytest.fixture
def explored(made: Path, tmp_path: Path) -> TinySite:
    """A copy of it, to be broken."""
    return TinySite(tmp_path / "explored", copy_of=made)


@pytest.fixture(scope="module")
def build(made: Path) -> Build:
    """What a build of it finds."""
    return command.survey(Project(made))


def box(build: Build) -> Any:
    """The explorer as the page shows it."""
    return html.fragment_fromstring(build.pages["lessons/cats.md"].shown.explorers["legs"])


def looked_up(build: Build) -> Any:
    """What its script looks up."""
    (content,) = build.files.values()
    return json.loads(content)


def test_the_page_shows_the_first_setting(build: Build) -> None:
    """A reader without a script would see no result, or that of another setting."""
    assert [] == build.faults
    assert ["12", "a dog counts 12", "12", "0", "here", "here"] == [
        cell.text_content() for cell in box(build).xpath(".//*[@data-result]")
    ]
    assert "cats: 3, with tails: no, who: a dog" == box(build).xpath("string(.//*[@class='ln-setting']/span)")
    assert ["legs(3) + False", "'a dog' + ' counts ' + str(legs(3))"] == [
        figure.name for figure in build.figures if figure.kind == "computed" and figure.line == line(build)
    ]


def line(build: Build) -> int:
    """Where the page calls the explorer."""
    return build.pages["lessons/cats.md"].line_of('"legs",') - 1


def test_a_control_fits_what_is_chosen(build: Build) -> None:
    """A slider for names, or a list of seven numbers to tap, would be hard to use."""
    kinds = [(control.get("type"), control.get("name")) for control in box(build).xpath(".//input")]
    assert [
        ("range", "legs-cats"),
        ("checkbox", "legs-tailed"),
        ("radio", "legs-who"),
        ("radio", "legs-who"),
    ] == kinds
    assert ["3", "0", "6", "2"] == [
        box(build).xpath(f"string(.//input[@type='range']/@{name})")
        for name in ("aria-valuetext", "min", "max", "value")
    ]
    assert ["cats"] == box(build).xpath(".//label[@for='legs-cats']/text()")
    assert ["a dog"] == box(build).xpath(".//label[input[@checked]]/text()")


def test_nothing_can_be_chosen_before_a_script_has_taken_charge(build: Build) -> None:
    """A control that does nothing would look broken."""
    assert ["disabled"] == box(build).xpath(".//fieldset[@class='ln-controls']/@disabled")


def test_the_file_holds_every_setting(build: Build) -> None:
    """At some setting the page would show the result of another one."""
    data = looked_up(build)
    assert ["cats", "tailed", "who"] == [control["name"] for control in data["controls"]]
    assert [["1", "2", "3", "4", "5", "6", "7"], ["no", "yes"], ["a vet", "a dog"]] == [
        control["keys"] for control in data["controls"]
    ]
    expected = [
        [str(4 * cats + tailed), f"{who} counts {4 * cats}", str(4 * cats), str(cats * tailed), "here", state]
        for cats in range(1, 8)
        for tailed, state in ((0, "here"), (1, "gone"))
        for who in ("a vet", "a dog")
    ]
    found = [
        [
            result["texts"][at]
            for result in data["results"]
            for at in result["at"][n * rows(result) : (n + 1) * rows(result)]
        ]
        for n in range(7 * 2 * 2)
    ]
    assert expected == found


def rows(result: Any) -> int:
    """How many places a result has at each setting."""
    return len(result["at"]) // (7 * 2 * 2)


def test_what_is_said_twice_is_stored_once(build: Build) -> None:
    """The file would be many times as large."""
    assert ["here", "gone"] == looked_up(build)["results"][3]["texts"]
    assert [0, 1] == looked_up(build)["results"][3]["gone"]


def test_bars_are_parts_of_the_longest_of_all(build: Build) -> None:
    """A bar would be longer than its place, or the bars of two settings not be comparable."""
    each = looked_up(build)["results"][2]
    assert {"28": 1, "4": 0.1429, "0": 0, "7": 0.25} == {
        text: part for text, part in zip(each["texts"], each["parts"], strict=True) if text in ("28", "4", "0", "7")
    }


def test_bars_may_be_parts_of_the_longest_at_their_setting(explored: TinySite) -> None:
    """Where values differ a thousandfold, most bars would not be seen."""
    explored.edit(PATH, '    gone=["gone"],\n', '    gone=["gone"],\n    relative=["each"],\n')
    each = looked_up(command.survey(explored.project))["results"][2]
    first = [each["parts"][at] for at in each["at"][2 * 2 : 2 * 3]]  # one cat with a tail
    assert [1, 0.25] == first


def test_the_ledger_keeps_what_all_settings_amount_to(build: Build, made: Path) -> None:
    """A reviewer would see nothing of a change, or thousands of values."""
    kept = build.as_ledger()["lessons/cats.md"]["explorer: legs, legs"]
    assert [
        f"[legs(cats) + tailed {GRID}]",
        "28 settings, 14 different results, from 4 to 29",
    ] == kept[:2]
    assert re.fullmatch("sha256 of values and texts: [0-9a-f]{64}", str(kept[2]))
    assert "'legs(3) + False' = [12, \"12\"]" in (made / "docs/numbers.lock").read_text(encoding="utf-8")


def test_the_list_of_numbers_names_the_settings_and_their_test(build: Build, made: Path) -> None:
    """A reader could not find out who vouches for the settings that are not shown."""
    (listed,) = build.pages["lessons/cats.md"].shown.lists - {
        text for text in build.pages["lessons/cats.md"].shown.lists if "28 settings" not in text
    }
    assert f"28 settings[legs(cats) + tailed {GRID}]" in listed
    assert "asserted with a slow and obvious reference in test_cats.py::test_explorer" in listed


def kinds(site: TinySite) -> set[str]:
    """The kinds of all that is wrong."""
    return {fault.kind for fault in site.faults()}


def test_a_change_at_a_setting_that_is_not_shown_fails(explored: TinySite) -> None:
    """Whatever is not on the page at first would be checked by nobody."""
    explored.edit("lesson_code/cats.py", "    return cats * LEGS", "    return cats * LEGS - (cats == 7)")
    faults = {fault.what.partition("\n")[0]: fault.kind for fault in explored.faults()}
    assert {
        "explorer: legs, legs": "changed output",
        "explorer: legs, who counts": "changed output",
        "explorer: legs, each": "changed output",
    } == faults
    assert 1 == explored.run("check")


def test_another_form_of_the_same_value_is_a_change(explored: TinySite) -> None:
    """A figure could be written wrongly at every setting but the first."""
    explored.edit(PATH, '    gone=["gone"],\n', '    gone=["gone"],\n    forms={"legs": ".1"},\n')
    assert {"changed output", "changed form"} == kinds(explored)


def test_all_settings_need_an_assertion(explored: TinySite) -> None:
    """Only the first setting would be known to be right."""
    explored.edit("tests/test_cats.py", f"[slow(cats) + tailed {GRID}]", f"[legs(cats) + tailed {GRID}]")
    (fault,) = explored.faults()
    assert "unasserted figure" == fault.kind
    assert fault.fix.endswith(f"== [legs(cats) + tailed {GRID}]")


def test_the_first_setting_needs_its_own(explored: TinySite) -> None:
    """What every reader sees would rest on a second program alone."""
    explored.edit("tests/test_cats.py", "    assert 12 == legs(3) + False\n", "")
    (fault,) = explored.faults()
    assert "legs(3) + False is asserted by no test" in fault.what


def test_a_faulty_site_publishes_no_results(explored: TinySite) -> None:
    """Results of a build that was refused would be left to be published."""
    explored.edit(PATH, "Try it.", "Try all 7.")
    site = explored.path("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-q"], cwd=explored.root, capture_output=True, text=True, check=False
    )
    assert 0 != done.returncode
    assert "typed number" in done.stdout + done.stderr
    assert [] == [*site.rglob("*.json")]
    explored.edit(PATH, "Try all 7.", "Try all.")
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q"], cwd=explored.root, capture_output=True, check=True)
    (file,) = (site / "assets" / "explorers").iterdir()
    assert f'data-results="{file.name}"' in (site / "lessons/cats/index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"legs",\n    {"cats"', '"All legs",\n    {"cats"', "a name is of small letters"),
        ("cats in range(1, 8)", "cats", "a control is `variable in values`"),
        ("cats in range(1, 8)", "cats in range(1, 2)", "two or more different"),
        ("cats in range(1, 8)", "cats in (3, 3)", "two or more different"),
        ("cats in range(1, 8)", "cats in (3, 'four')", "or texts, or"),
        ("cats in range(1, 8)", "cats in [[3], [4]]", "two or more different"),
        ("in (False, True)", "in (True, False)", "`in (False, True)`"),
        ("who in (", "cats in (", "two controls are called cats"),
        ('{"cats": 3, ', '{"cats": 9, ', "does not hold 9"),
        ('{"cats": 3, ', '{"dogs": 3, ', "neither a control nor a result 'dogs'"),
        ("start={", "relative=['arms'], start={", "neither a control nor a result 'arms'"),
        ("start={", "names={'cats': {9: 'many'}}, start={", "does not hold 9, which has a name"),
        ('gone=["gone"]', 'gone=["lost"]', "no row ever says 'lost'"),
        ("\"who + ' counts ' + str(legs(cats))\"", '["a", "b", "who + str(legs(cats))"]', "a result is an expression"),
        ('(["legs", "tails"], ', '(["legs"], ', "1 rows have names"),
        ('"[legs(cats), len(tails(cats)) * tailed]"', '"legs(cats)"', "rows need a list"),
        ('"[legs(cats), len(tails(cats)) * tailed]"', '"[-legs(cats), tailed * 1]"', "cannot be shorter than nothing"),
        ("Try it.", "", "needs a caption"),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(explored: TinySite, old: str, new: str, said: str) -> None:
    """A page would show controls that do nothing, or results beside the wrong names."""
    explored.edit(PATH, old, new)
    assert [
        said in fault.what for fault in explored.faults() if fault.kind in ("faulty explorer", "failing expression")
    ] == [True]


def test_a_control_that_nothing_depends_on_is_refused(explored: TinySite) -> None:
    """A reader would move it and wonder why nothing happens."""
    explored.edit(PATH, "\"who + ' counts ' + str(legs(cats))\"", "\"'he counts ' + str(legs(cats))\"")
    assert "legs: no result depends on who" in {fault.what for fault in explored.faults()}


def test_a_setting_that_cannot_be_computed_is_named(explored: TinySite) -> None:
    """An explorer with a hole in it would fail in the reader's hands."""
    explored.edit(PATH, '"legs(cats) + tailed"', '"legs(cats) // (cats - 5) + tailed"')
    (fault,) = [fault for fault in explored.faults() if fault.kind == "failing expression"]
    assert "ZeroDivisionError" in fault.what
    assert "<strong" not in fault.what


def test_two_explorers_need_two_names(explored: TinySite) -> None:
    """A link to one would change the other."""
    explored.write(PATH, explored.path(PATH).read_text(encoding="utf-8") + CALL)
    assert any("another explorer has this name" in fault.what for fault in explored.faults())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"How many legs?"', '"How many of 4 legs?"'),
        ('{"cats": "cats', '{"cats up to 7": "cats'),
        ('"legs": "legs(cats)', '"4 legs": "legs(cats)'),
        ('(["legs", "tails"]', '(["4 legs", "tails"]'),
        ("start={", "names={'cats': {3: '3 cats'}}, start={"),
        ("Try it.", "Try all 7."),
    ],
)
def test_what_an_author_writes_is_checked(explored: TinySite, old: str, new: str) -> None:
    """The texts of explorers would be the place where numbers can be typed."""
    explored.edit(PATH, old, new)
    assert "typed number" in kinds(explored)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (">12</data>", ">13</data>"),
        ('value="2"', 'value="3"'),
        ("cats: 3,", "cats: 4,"),
        ("<td", "<td title='9 lives'"),
    ],
)
def test_only_what_the_machinery_put_there_is_let_out(build: Build, old: str, new: str) -> None:
    """A typed number would be published in the shape of an explorer."""
    page = build.pages["lessons/cats.md"]
    known = page.shown.explorers["legs"]
    assert old in known
    found = [
        [finding.kind for finding in lint.check_page(f"<article>{text}</article>", page.shown, AllowList())]
        for text in (known, known.replace(old, new, 1))
    ]
    assert [[], ["forged explorer"]] == found


def test_free_names_alone_are_replaced_by_values() -> None:
    """The first setting would be computed from another expression than all settings are."""
    assert "f(2, [n for n in range(3)], -1 .real)" == expressions.substituted(
        "f(n, [n for n in range(k)], m.real)", {"n": 2, "k": 3, "m": -1}
    ).replace("(-1).real", "-1 .real")
    assert "'a' + str(True)" == expressions.substituted("who + str(yes)", {"who": "a", "yes": True})
    assert 9 == eval(expressions.substituted("x ** 2", {"x": -3}))
