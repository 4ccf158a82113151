"""Cited figures: what a source must say of itself, and that a figure is the one its quote holds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from live_numbers import sources
from live_numbers.faults import Fault
from live_numbers.project import Project
from live_numbers.sources import CitedFigure, Source, differences, find

CENSUS: dict[str, Any] = {
    "title": "Census of cats",
    "author": "A. Vet",
    "address": "https://example.org/cats",
    "read": "read in November 2026",
}
CATS: dict[str, Any] = {"value": 1_200_000, "written": "1.2M", "quote": "there are about 1.2M cats in the city"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Make a project with nothing in it."""
    (tmp_path / "docs").mkdir()
    return Project(tmp_path)


def toml(table: dict[str, Any], name: str) -> str:
    """Write a table of plain values; JSON's strings, numbers and lists are TOML's too."""
    lines = [f"[{name}]"] + [f"{key} = {json.dumps(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n\n"


def read(project: Project, content: str) -> tuple[dict[str, Source], list[Fault]]:
    """Read the sources from a text."""
    project.sources.write_text(content, encoding="utf-8")
    return sources.read(project)


def fault_of(project: Project, figure: dict[str, Any]) -> str:
    """What is wrong with a figure, or nothing; a faulty one must not be usable."""
    found, faults = read(project, toml(CENSUS, "census") + toml(figure, "census.figures.cats"))
    assert len(faults) <= 1
    assert bool(faults) != ("cats" in found["census"].figures)
    return faults[0].what if faults else ""


def test_reading(project: Project) -> None:
    """A source or a figure would be another than the one in the file."""
    more = {**CENSUS, "note": "They sleep.", "snapshot": "cats.json"}
    content = toml(CENSUS, "census") + toml(CATS, "census.figures.cats") + toml(more, "more")
    found, faults = read(project, content)
    assert [] == faults
    cats = CitedFigure("census.cats", 1_200_000, "1.2M", "there are about 1.2M cats in the city")
    texts = ("Census of cats", "A. Vet", "https://example.org/cats", "read in November 2026")
    assert {
        "census": Source("census", *texts, note="", snapshot="", figures={"cats": cats}),
        "more": Source("more", *texts, note="They sleep.", snapshot="cats.json", figures={}),
    } == found


def test_no_file(project: Project) -> None:
    """A site that cites nothing would not build."""
    assert ({}, []) == sources.read(project)


# How a source writes a figure.


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (5, "5"),
        (0, "0"),
        (8_200_000_000, "8.2B"),
        (8_200_000_000, "8.2 B"),
        (8_000_000_000, "8B"),
        (1_048_576, "1,048,576"),
        (1_048_576, "1048576"),
        (1_000_000, "1M"),
        (1_500_000, "1.5M"),
        (115_000, "115k"),
        (115_000, "115K"),
        (128_500, "128.5k"),
        (0.3, "30%"),
        (0.3, "30 %"),
        (0.425, "42.5%"),
        (0.001, "0.1%"),
        (1, "100%"),
        (12, "1,200%"),
        (0.1, "0.1"),
        (2.50, "2.50"),
        (3.0, "3"),
        (3, "3.0"),
        (1_048_576.5, "1,048,576.5"),
    ],
)
def test_written_and_value_agree(project: Project, value: float, written: str) -> None:
    """An honest figure would be refused, or rounded on its way through a float."""
    assert "" == fault_of(project, {"value": value, "written": written, "quote": f"there are {written} of them"})


@pytest.mark.parametrize(
    ("value", "written", "says"),
    [
        (8.2, "8.2B", "'8.2B' says 8.2e+09"),
        (8_200_000_001, "8.2B", "'8.2B' says 8.2e+09"),
        (8_200_000, "8.2B", "says 8.2e+09"),
        (1_048_575, "1,048,576", "says 1.04858e+06"),
        (30, "30%", "'30%' says 0.3"),
        (3, "30%", "'30%' says 0.3"),
        (0.30000000000000004, "30%", "'30%' says 0.3"),
        (115, "115k", "says 115000"),
        (115 * 1024, "115k", "says 115000"),
        (1.5, "1.5M", "says 1.5e+06"),
        (7, "5", "'5' says 5"),
        (-5, "5", "'5' says 5"),
    ],
)
def test_written_and_value_differ(project: Project, value: float, written: str, says: str) -> None:
    """A slip in one of the two would be published, with the source's name under it."""
    said = fault_of(project, {"value": value, "written": written, "quote": f"there are {written} of them"})
    assert f"value is {value!r}" in said
    assert says in said


@pytest.mark.parametrize(
    "written", ["", "about 5", "five", "-5", "5x", "5 million", "5e3", "1.", ".5", "1.2.3", "5%%", "5 kB", "٥", "5\n"]
)
def test_what_cannot_be_read_as_a_number(project: Project, written: str) -> None:
    """Whether it is the value would be left to a guess."""
    said = fault_of(project, {"value": 5, "written": written, "quote": f"there are {written} of them"})
    assert "cannot be read as a number" in said


# That the figure stands in the quote.


@pytest.mark.parametrize(
    "quote",
    [
        "60",
        "about 60-80 words",
        "60 words",
        "it is 60.",
        "60, or more",
        "(60)",
        "from 40 to 60",
        "~60",
        "60–80",
        "n=60",
    ],
)
def test_a_figure_in_its_quote(project: Project, quote: str) -> None:
    """A figure that the source does state would be refused."""
    assert "" == fault_of(project, {"value": 60, "written": "60", "quote": quote})


@pytest.mark.parametrize(
    "quote",
    ["", "sixty", "600", "160", "1,60", "60,000", "60.5", "1.60", "0.60", "6 0", "600 and 160", "2060", ".60", "60,5"],
)
def test_digits_of_a_longer_number_are_not_the_figure(project: Project, quote: str) -> None:
    """Nearly every figure stands in nearly every quote, as a part of some other."""
    said = fault_of(project, {"value": 60, "written": "60", "quote": quote})
    assert f"the figure '60' does not stand in the quote {quote!r}" in said


def test_one_place_suffices(project: Project) -> None:
    """A figure beside a longer number that holds it would be refused."""
    assert "" == fault_of(project, {"value": 60, "written": "60", "quote": "of 600 words, 60 are long; 1,60 and 60.5"})


def test_dots_are_no_patterns(project: Project) -> None:
    """The dot of a figure would stand for any character of the quote."""
    assert "does not stand" in fault_of(project, {"value": 8.2, "written": "8.2", "quote": "there are 8,2 or 802"})


def test_the_length_of_a_quote(project: Project) -> None:
    """More than a short quote would be copied from a work of somebody else."""
    quote = "60 " + "x" * 297
    assert 300 == len(quote)
    assert "" == fault_of(project, {"value": 60, "written": "60", "quote": quote})
    said = fault_of(project, {"value": 60, "written": "60", "quote": quote + "x"})
    assert "the quote has 301 characters" in said


@pytest.mark.parametrize(
    ("figure", "says"),
    [
        ({"value": 5, "written": "5"}, "exactly the fields value, written and quote"),
        ({"value": 5, "quote": "5"}, "exactly the fields"),
        ({"written": "5", "quote": "5"}, "exactly the fields"),
        ({}, "exactly the fields"),
        ({"value": 5, "written": "5", "quote": "5", "note": "x"}, "exactly the fields"),
        ({"value": "5", "written": "5", "quote": "5"}, "value is '5', not a number"),
        ({"value": True, "written": "1", "quote": "1"}, "value is True, not a number"),
        ({"value": [5], "written": "5", "quote": "5"}, "value is [5], not a number"),
        ({"value": 5, "written": 5, "quote": "5"}, "must be text"),
        ({"value": 5, "written": "5", "quote": 5}, "must be text"),
    ],
)
def test_malformed_figures(project: Project, figure: dict[str, Any], says: str) -> None:
    """A figure without a quote, or with one that is no text, would be cited all the same."""
    assert says in fault_of(project, figure)


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_value_that_is_none(project: Project, value: str) -> None:
    """TOML knows these; a comparison with what is written would end in a traceback."""
    figure = f'[census.figures.cats]\nvalue = {value}\nwritten = "5"\nquote = "5"\n'
    _, (fault,) = read(project, toml(CENSUS, "census") + figure)
    assert f"value is {value}, not a number" in fault.what


# What a source says of itself.


@pytest.mark.parametrize(
    ("change", "says"),
    [
        *(({field: None}, f"has no {field}") for field in ("title", "author", "address", "read")),
        *(({field: " "}, f"has no {field}") for field in ("title", "author", "address", "read")),
        *(({field: 5}, f"has no {field}") for field in ("title", "author", "address", "read")),
        ({"note": 5}, "has a note that is no text"),
        ({"snapshot": ["cats.json"]}, "has a snapshot that is no text"),
        ({"address": "example.org/cats"}, "'example.org/cats', which is none of the web"),
        ({"address": "ftp://example.org"}, "none of the web"),
        ({"address": "https://"}, "none of the web"),
        ({"address": "https:///cats"}, "none of the web"),
        ({"address": "javascript:alert(1)"}, "none of the web"),
        ({"address": " https://example.org"}, "none of the web"),
        ({"figures": 5}, "has figures that are no tables"),
        ({"figures": ["cats"]}, "has figures that are no tables"),
        ({"year": 2026, "by": "x"}, "has unknown fields: by, year"),
    ],
)
def test_malformed_sources(project: Project, change: dict[str, Any], says: str) -> None:
    """A reader could not find out who said it, where, and when."""
    entry = {key: value for key, value in {**CENSUS, **change}.items() if value is not None}
    found, (fault,) = read(project, "\n" + toml(entry, "census") + toml(CENSUS, "other"))
    assert ("docs/sources.toml", 2, "faulty source") == (fault.file, fault.line, fault.kind)
    assert fault.what.startswith("[census] ")
    assert says in fault.what
    assert ["other"] == [*found]


def test_figures_that_are_no_tables(project: Project) -> None:
    """A figure written as a bare number would end the build in a traceback."""
    found, (fault,) = read(project, toml(CENSUS, "census") + "[census.figures]\ncats = 5\n")
    assert "[census.figures.cats] needs exactly the fields" in fault.what
    assert {} == found["census"].figures


def test_entries_that_are_no_tables(project: Project) -> None:
    """A value outside all tables would end the build in a traceback."""
    found, (fault,) = read(project, "cats = 5\n" + toml(CENSUS, "census"))
    assert "[cats] is no table" in fault.what
    assert ["census"] == [*found]


@pytest.mark.parametrize("content", [b"[census", b"[a]\n[a]\n", b"[a]\ntitle = '\xff'", b"[a]\ntitle = 5 6"])
def test_unreadable_files(project: Project, content: bytes) -> None:
    """A slip in the file would end the build in a traceback."""
    project.sources.write_bytes(content)
    found, (fault,) = sources.read(project)
    assert {} == found
    assert ("docs/sources.toml", "unreadable sources") == (fault.file, fault.kind)


def test_lines_and_all_faults_at_once(project: Project) -> None:
    """An editor would mend one source a build, and look for each by hand."""
    wrong = {**CATS, "value": 5}
    content = (
        toml(CENSUS, "census")  # lines 1 to 5, and an empty one
        + toml(CATS, "census.figures.cats")  # 7 to 10
        + toml(wrong, "census.figures.dogs")  # 12 to 15
        + toml({**CENSUS, "title": ""}, "later")  # 17 to 21
        + toml(wrong, 'census.figures."birds"')  # 23
    )
    found, faults = read(project, content)
    assert [(12, "[census.figures.dogs]"), (23, "[census.figures.birds]"), (17, "[later]")] == [
        (fault.line, fault.what.split()[0]) for fault in faults
    ]
    assert ["cats"] == [*found["census"].figures]


# Finding one.


def test_find(project: Project) -> None:
    """A page would cite another figure than it names."""
    found, _ = read(project, toml(CENSUS, "census") + toml(CATS, "census.figures.cats"))
    source, figure = find(found, "census.cats")
    assert ("Census of cats", "census.cats", 1_200_000) == (source.title, figure.key, figure.value)


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("senses.cats", "unknown source 'senses': docs/sources.toml has census, more"),
        ("", "unknown source ''"),
        (".cats", "unknown source ''"),
        ("census", "the source 'census' has no figure '': it has cats"),
        ("census.dogs", "the source 'census' has no figure 'dogs': it has cats"),
        ("census.cats.more", "no figure 'cats.more'"),
        ("more.cats", "the source 'more' has no figure 'cats': it has none"),
    ],
)
def test_find_says_what_there_is(project: Project, key: str, says: str) -> None:
    """Its author would have to look the names up, or the build would end in a traceback."""
    found, _ = read(project, toml(CENSUS, "census") + toml(CATS, "census.figures.cats") + toml(CENSUS, "more"))
    with pytest.raises(ValueError, match=re.escape(says)):
        find(found, key)


def test_find_without_any_source() -> None:
    """A site without the file would say that there is a source of no name."""
    with pytest.raises(ValueError, match="has none"):
        find({}, "census.cats")


# Snapshots.


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """Keep a copy of a document."""
    path = tmp_path / "config.json"
    path.write_text('{"layers": 36, "heads": 8, "tied": false, "rope": {"a": 1, "b": null}}', encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("expected", "live"),
    [
        ([], '{"layers": 36, "heads": 8, "tied": false, "rope": {"a": 1, "b": null}}'),
        ([], '{"rope": {"b": null, "a": 1},\n "tied": false, "heads": 8, "layers": 36}\n'),
        (
            ["layers: snapshot 36, live 40"],
            '{"layers": 40, "heads": 8, "tied": false, "rope": {"a": 1, "b": null}}',
        ),
        (
            ["heads: snapshot 8, live has no such field", "more: snapshot has no such field, live null"],
            '{"layers": 36, "tied": false, "rope": {"a": 1, "b": null}, "more": null}',
        ),
        (
            ['layers: snapshot 36, live "36"'],
            '{"layers": "36", "heads": 8, "tied": false, "rope": {"a": 1, "b": null}}',
        ),
        # Python takes false for 0.
        (
            ["tied: snapshot false, live 0"],
            '{"layers": 36, "heads": 8, "tied": 0, "rope": {"a": 1, "b": null}}',
        ),
        (
            ['rope: snapshot {"a": 1, "b": null}, live {"a": 1}'],
            '{"layers": 36, "heads": 8, "tied": false, "rope": {"a": 1}}',
        ),
        (
            [
                "heads: snapshot 8, live has no such field",
                "layers: snapshot 36, live has no such field",
                'rope: snapshot {"a": 1, "b": null}, live has no such field',
                "tied: snapshot false, live has no such field",
            ],
            "{}",
        ),
    ],
)
def test_differences_field_by_field(snapshot: Path, expected: list[str], live: str) -> None:
    """A changed document would pass for the same, or its order and white space for a change."""
    assert expected == differences(snapshot, live)


@pytest.mark.parametrize(
    ("live", "says"),
    [
        ("", "is not JSON"),
        ("<html>Not found</html>", "is not JSON"),
        ('{"layers": 36', "is not JSON"),
        ("[1, 2]", "is a JSON list, not an object"),
        ("null", "is a JSON NoneType, not an object"),
    ],
)
def test_a_live_document_of_another_kind(snapshot: Path, live: str, says: str) -> None:
    """A page that says `not found` would end the weekly job in a traceback."""
    with pytest.raises(ValueError, match=says):
        differences(snapshot, live)


def test_differences_of_other_documents(tmp_path: Path) -> None:
    """A text that changed would pass for the same."""
    path = tmp_path / "page.txt"
    path.write_text("60 words\n", encoding="utf-8")
    assert [] == differences(path, "60 words\n")
    assert ["page.txt and the live document differ"] == differences(path, "61 words\n")
