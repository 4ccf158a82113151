"""What counts as a typed number, starting from Unicode and not from shapes; and what may stand."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

import pytest

from live_numbers.project import Project
from live_numbers.typed import FIGURE, HOLE, Allowed, AllowList, is_number, read_allow_list, unused

UNITS = ["message", "token", "gigabyte", "reply", "time"]
POINTS = range(sys.maxunicode + 1)


def typed(text: str, *allowed: str) -> list[str]:
    """Find the typed numbers of a text, in the order of their places."""
    entries = [Allowed(entry, "a reason", 1) for entry in allowed]
    return [what for _, what in sorted(AllowList(entries, UNITS).typed(text))]


def words(text: str) -> str:
    """Find the one number word before a unit, with line breaks and quotes made plain."""
    (found,) = typed(text)
    return found


# Which characters are numbers.


def slow_is_number(character: str) -> bool:
    """Ask Unicode's tables one after the other: the category, the value, and the same of the plain form."""
    for part in character + unicodedata.normalize("NFKC", character):
        if unicodedata.category(part) in ("Nd", "Nl", "No"):
            return True
        if unicodedata.numeric(part, None) is not None:
            return True
    return False


@pytest.fixture(scope="module")
def numbers() -> set[str]:
    """All characters that the slow reference calls numbers."""
    return {chr(point) for point in POINTS if slow_is_number(chr(point))}


def test_every_number_of_unicode_is_one(numbers: set[str]) -> None:
    """Some digit of some script could be typed and drift, or some letter would be taken for a digit."""
    assert numbers == {chr(point) for point in POINTS if is_number(chr(point))}
    # That the reference itself looks at the right tables.
    assert numbers >= set("0123456789²½Ⅷ٣५三〇①⒈㉑㎥௰𝟘\N{FULLWIDTH DIGIT SEVEN}\N{AEGEAN NUMBER TEN}")
    assert not numbers & set("abcxyzéΩ語-+−%.,'()№\u00a0" + FIGURE + HOLE)


def test_every_number_of_unicode_is_found_in_a_text(numbers: set[str]) -> None:
    """A search that first looks for something cheaper would pass over some of them."""
    allow = AllowList([], UNITS)
    missed = {number for number in numbers if [*allow.typed(f"It has a{number} b.")] != [(8, number)]}
    assert set() == missed
    others = "".join(chr(point) for point in POINTS[::16] if chr(point) not in numbers and chr(point) != FIGURE)
    assert [] == [*allow.typed(others)]


# Digits in a text.


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ([], ""),
        ([], "No figure at all, and none here."),
        (["5"], "It has 5 legs."),
        (["5"], "5"),
        (["12,345"], "It costs 12,345 of them."),
        (["12.5"], "It is 12.5."),
        (["12", "13"], "12; 13"),
        (["12 345"], "12 345"),
        (["12\u00a0345"], "12\u00a0345"),
        (["12\u202f345"], "12\u202f345"),
        (["12'345"], "12'345"),
        (["5", "7"], "5x7"),
        (["5", "7"], "5-7"),
        (["5"], "-5"),
        (["5"], "v5"),
        (["5"], "5th"),
        (["1", "5"], "1e5"),
        (["٣٤"], "It has ٣٤ legs."),
        (["½"], "Half is ½."),
        (["１２"], "１２"),
        (["²"], "x²"),
        (["三"], "三匹"),
        (["5"], f"{FIGURE} and 5"),
        ([], f"{HOLE} and {HOLE}{HOLE}"),
    ],
)
def test_digits(expected: list[str], text: str) -> None:
    """A typed number would pass, or be named otherwise than it stands there."""
    assert expected == typed(text)


def test_where_it_stands() -> None:
    """The message would quote the wrong sentence."""
    assert [(3, "5"), (9, "6,000")] == [*AllowList().typed("a: 5 and 6,000")]
    assert [(6, "seven messages")] == [*AllowList([], UNITS).typed("I had seven messages.")]


# Signs, units and multipliers at a figure.


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        # A sign before it.
        (["-@"], "It fell by -@."),
        (["−@"], "It fell by −@."),
        (["+@"], "(+@)"),
        (["-@"], "-@"),
        # Two that read as one.
        (["@@"], "@@"),
        (["@.@"], "@.@"),
        (["@,@"], "@,@"),
        # What stands behind and makes another figure of it.
        (["@%"], "@%"),
        (["@ %"], "@ %"),
        (["@\u00a0‰"], "@\u00a0‰"),
        (["@ million"], "@ million of them"),
        (["@\u00a0billion"], "@\u00a0billion"),
        (["@ thousands"], "@ thousands"),
        (["@ hundred"], "@ hundred"),
        (["@ dozen"], "@ dozen"),
        (["@k"], "@k"),
        (["@GB"], "@GB"),
        (["@\nmillion"], "@\nmillion"),
        # What may stand there.
        ([], "@"),
        ([], "(@)"),
        ([], "@, @; @ and @."),
        ([], "@ messages"),
        ([], "@-token"),
        ([], "@ - @"),
        ([], "@–@"),
        ([], "@-@"),
        ([], "a-@"),
        ([], "@ millionaires"),
        ([], "“@”"),
        ([], "@_"),
    ],
)
def test_what_is_attached_to_a_figure(expected: list[str], text: str) -> None:
    """A computed figure would be turned into another by what is typed beside it; or honest prose would not build."""
    text = text.replace("@", FIGURE)
    assert [part.replace("@", FIGURE) for part in expected] == typed(
        text + " in all, as far as anybody there could tell."
    )


# Words.


@pytest.mark.parametrize(
    "text",
    [
        "seven messages",
        "Seven messages",
        "SEVEN MESSAGES",
        "seven message",
        "one message",
        "two replies",
        "two gigabytes",
        "seven short messages",
        "seven very short messages",
        "twenty-one messages",
        "twenty one messages",
        "twenty‑one messages",
        "twenty–one messages",
        "seven\nmessages",
        "seven\u00a0messages",
        "seven-message",
        "seven “messages",
        "seven/eight messages",
        "hundred messages",
        "two hundred messages",
        "two hundred and five messages",
        "hundreds of messages",
        "dozens of messages",
        "seven of the messages",
        "seven of its messages",
        "seven of these short messages",
        "three thousand tokens",
        "millions of tokens",
        "zero tokens",
        "two times",
    ],
)
def test_number_words_before_a_unit(text: str) -> None:
    """A figure spelt out in such a shape would be typed by hand, and drift."""
    assert text == words(f"In short, there were, as it happens, {text} to be read by all of us.")
    assert text in typed(text)


@pytest.mark.parametrize(
    "text",
    [
        "Some messages came.",
        "The second message, and the first.",
        "It had someone message me.",
        "Everyone tokenises, often.",
        "The oneness of messages.",
        "One of the ideas is older than the message.",
        "One long message.",
        "Two people are in the messages.",
        "Two ideas for the messages.",
        "Seven. Messages came.",
        "Seven, messages came.",
        "Tension and attention, weightless and eighty-ninth.",
        "Two of us wrote, and the messages were kept as they had been.",
        "Two rather quick little messages that are hard to find.",
        "The network and the tenth reply",
        "Seven messengers came and went away.",
    ],
)
def test_words_that_are_no_figures(text: str) -> None:
    """Honest prose would not build, and the allow-list would fill up until nobody reads it."""
    assert [] == typed(text)


def test_without_units_no_word_is_a_figure() -> None:
    """A site with a faulty list of units would complain of its prose besides."""
    assert [] == [*AllowList().typed("I had seven messages of two gigabytes, as it were, and they were long ones.")]


@pytest.mark.parametrize("text", ["seven", "Seven", " seven ", "(seven)", "twenty-one", "two hundred", "one", "Ten."])
def test_a_number_word_alone(text: str) -> None:
    """A cell of a table that holds nothing but a number in words would pass."""
    assert [text] == typed(text)


@pytest.mark.parametrize("text", ["", "-", "sevens and more", "seven lives", "someone", "a"])
def test_more_than_a_number_word(text: str) -> None:
    """A cell with a sentence in it would be taken for a number."""
    assert [] == typed(text)


# What may stand typed.


@pytest.mark.parametrize(
    ("expected", "text", "allowed"),
    [
        # As it stands, as often as it stands.
        ([], "Qwen3-8B", "Qwen3-8B"),
        ([], "Qwen3-8B, Qwen3-8B and (Qwen3-8B).", "Qwen3-8B"),
        ([], "the Qwen3-8B's, “Qwen3-8B”: Qwen3-8B-like", "Qwen3-8B"),
        ([], "It is GPT-4.", "GPT-4"),
        ([], "GPT-4, then", "GPT-4"),
        ([], "CC BY 4.0", "CC BY 4.0"),
        ([], "seven messages", "seven messages"),
        ([], "one token at a time", "one token at a time"),
        ([], "in 2026", "2026"),
        ([], "in 2026, or in 2026.", "2026"),
        # Not as a part of a longer word or number.
        (["3", "8"], "Qwen3-8Bit", "Qwen3-8B"),
        (["3", "8"], "XQwen3-8B", "Qwen3-8B"),
        (["4.5"], "GPT-4.5", "GPT-4"),
        (["4,5"], "GPT-4,5", "GPT-4"),
        (["41"], "GPT-41", "GPT-4"),
        (["20267"], "20267", "2026"),
        (["12026"], "12026", "2026"),
        (["2026.5"], "2026.5", "2026"),
        (["2026,000"], "2026,000", "2026"),
        (["3.5"], "3.5", "5"),
        (["3,500"], "3,500", "500"),
        (["5"], "It is .5 of it.", "5"),
        (["5"], ".5", "5"),
        (["5"], "x5", "5"),
        (["5"], "_5", "5"),
        # Not otherwise written.
        (["3", "8"], "qwen3-8b", "Qwen3-8B"),
        (["3"], "Qwen3", "Qwen3-8B"),
        # Signs of patterns are letters like others.
        ([], "v(1.0)*", "v(1.0)*"),
        (["1", "0"], "v1x0", "v1.0"),
        # What is beside it counts.
        (["5"], "Qwen3-8B has 5", "Qwen3-8B"),
        (["twenty tokens"], "twenty tokens, one token at a time", "one token at a time"),
    ],
)
def test_the_bounds_of_an_entry(expected: list[str], text: str, allowed: str) -> None:
    """An entry would let out more than it says, or less."""
    assert expected == typed(text, allowed)


def test_two_entries_do_not_make_a_third_number() -> None:
    """With `3` and `5` on the list, nobody would compute 3.5."""
    assert ["3.5"] == typed("It is 3.5 long.", "3", "5")
    assert ["3.5"] == typed("It is 3.5 long.", "5", "3")
    assert [] == typed("It is 3. 5 are", "3", "5")


def test_what_is_let_out_keeps_its_place() -> None:
    """All places behind an entry would be wrong, and the message would quote another sentence."""
    allow = AllowList([Allowed("Qwen3-8B", "a name", 1)], UNITS)
    text = "So Qwen3-8B has 5."
    assert "So " + HOLE * 8 + " has 5." == allow.without_allowed(text)
    assert [(text.index("5"), "5")] == [*allow.typed(text)]


def test_an_entry_is_used_only_where_it_lets_something_out() -> None:
    """A dead entry would stay on the list for ever, and let out tomorrow what it was not meant for."""
    allow = AllowList([Allowed("GPT-4", "a name", 3), Allowed("2026", "a year", 7)], UNITS)
    assert [] == [*allow.typed("GPT-4")]
    assert {"GPT-4"} == allow.used
    assert ["20260"] == [what for _, what in allow.typed("20260")]
    assert {"GPT-4"} == allow.used


# The file.


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Make a project with nothing in it."""
    (tmp_path / "docs").mkdir()
    return Project(tmp_path)


GOOD = """\
units = ["message", "token"]

[[allow]]
text = "GPT-4"
reason = "a name"

[[allow]]
text = "2026"
reason = "a year"
"""


def test_reading_the_file(project: Project) -> None:
    """The entries, their reasons or their lines would be others than in the file."""
    project.typed_numbers.write_text(GOOD, encoding="utf-8")
    allow, faults = read_allow_list(project)
    assert [] == faults
    assert [Allowed("GPT-4", "a name", 4), Allowed("2026", "a year", 8)] == allow.entries
    assert ["message", "token"] == allow.units
    assert [] == [*allow.typed("GPT-4 in 2026")]
    assert [] == unused(project, allow)


def test_an_unused_entry_is_named(project: Project) -> None:
    """Its editor would have to look for it."""
    project.typed_numbers.write_text(GOOD, encoding="utf-8")
    allow, _ = read_allow_list(project)
    assert [] == [*allow.typed("GPT-4")]
    (fault,) = unused(project, allow)
    assert ("docs/typed_numbers.toml", 8, "unused allow-list entry") == (fault.file, fault.line, fault.kind)
    assert "'2026'" in fault.what


def test_no_file_lets_nothing_out(project: Project) -> None:
    """A site without an allow-list would not build, or let everything out."""
    allow, faults = read_allow_list(project)
    assert ([], [], []) == (faults, allow.entries, allow.units)
    assert [(0, "5")] == [*allow.typed("5")]


@pytest.mark.parametrize(
    ("content", "kind", "line", "says"),
    [
        ("units = [", "unreadable allow-list", 0, ""),
        ("units = ['a']\nunits = ['b']", "unreadable allow-list", 0, ""),
        (b"units = ['\xff']", "unreadable allow-list", 0, ""),
        ("", "faulty allow-list", 0, "units must be"),
        ("units = []", "faulty allow-list", 0, "units must be"),
        ("units = 'message'", "faulty allow-list", 0, "units must be"),
        ("units = [1]", "faulty allow-list", 0, "units must be"),
        ("units = ['a', ' ']", "faulty allow-list", 0, "units must be"),
        ("units = ['a']\nallow = 'GPT-4'", "faulty allow-list", 0, "allow must be"),
        ("units = ['a']\nallow = ['GPT-4']", "faulty allow-list", 0, "allow must be"),
        ("units = ['a']\n[allow]\ntext = 'GPT-4'\nreason = 'x'", "faulty allow-list", 0, "allow must be"),
        ("units = ['a']\nallowed = []\nmore = 1", "faulty allow-list", 0, "unknown keys: allowed, more"),
        ("units = ['a']\n[[allow]]\ntext = 'GPT-4'", "faulty allow-list", 3, "'GPT-4' needs"),
        ("units = ['a']\n[[allow]]\ntext = 'GPT-4'\nreason = ' '", "faulty allow-list", 3, "'GPT-4' needs"),
        ("units = ['a']\n[[allow]]\ntext = 'GPT-4'\nreason = 1", "faulty allow-list", 3, "'GPT-4' needs"),
        ("units = ['a']\n[[allow]]\ntext = 'GPT-4'\nreason = 'x'\nwhy = 'y'", "faulty allow-list", 3, "'GPT-4' needs"),
        ("units = ['a']\n[[allow]]\nreason = 'x'", "faulty allow-list", 0, "None needs"),
        ("units = ['a']\n[[allow]]\ntext = 4\nreason = 'x'", "faulty allow-list", 3, "4 needs"),
        ("units = ['a']\n[[allow]]\ntext = ''\nreason = 'x'", "faulty allow-list", 3, "'' needs"),
        ("units = ['a']\n[[allow]]\ntext = ' '\nreason = 'x'", "faulty allow-list", 3, "' ' needs"),
    ],
)
def test_malformed_files(project: Project, content: str | bytes, kind: str, line: int, says: str) -> None:
    """A slip in the file would end the build in a traceback, or be passed over."""
    project.typed_numbers.write_bytes(content if isinstance(content, bytes) else content.encode())
    allow, (fault,) = read_allow_list(project)
    assert ("docs/typed_numbers.toml", kind, line) == (fault.file, fault.kind, fault.line)
    assert says in fault.what
    assert fault.fix
    assert [] == allow.entries
    assert (0, "5") in [*allow.typed("5")]


def test_the_same_text_twice(project: Project) -> None:
    """Two reasons for one text would contradict each other."""
    again = '\n[[allow]]\ntext = "2026"\nreason = "a number of cats"\n'
    project.typed_numbers.write_text(GOOD + again, encoding="utf-8")
    allow, (fault,) = read_allow_list(project)
    assert "'2026' stands twice" in fault.what
    assert [Allowed("GPT-4", "a name", 4), Allowed("2026", "a year", 8)] == allow.entries


def test_all_faults_of_the_file_at_once(project: Project) -> None:
    """An editor would mend one entry a build."""
    content = (
        "units = 1\nmore = 1\n[[allow]]\ntext = 'a1'\n[[allow]]\ntext = 'b2'\nreason = 'x'\n[[allow]]\nreason = 'y'\n"
    )
    project.typed_numbers.write_text(content, encoding="utf-8")
    allow, faults = read_allow_list(project)
    assert 4 == len(faults)
    assert ["b2"] == [entry.text for entry in allow.entries]
