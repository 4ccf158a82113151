"""How a figure is written: every form, every rounding, every refusal."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live_numbers.forms import Value, in_words, write

same_every_run = settings(derandomize=True, deadline=None, database=None, max_examples=300)

GAP = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"

# Written out, five a line, so that it owes nothing to the tables of the module.
TABLE = """
zero one two three four
five six seven eight nine
ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen
twenty twenty-one twenty-two twenty-three twenty-four
twenty-five twenty-six twenty-seven twenty-eight twenty-nine
thirty thirty-one thirty-two thirty-three thirty-four
thirty-five thirty-six thirty-seven thirty-eight thirty-nine
forty forty-one forty-two forty-three forty-four
forty-five forty-six forty-seven forty-eight forty-nine
fifty fifty-one fifty-two fifty-three fifty-four
fifty-five fifty-six fifty-seven fifty-eight fifty-nine
sixty sixty-one sixty-two sixty-three sixty-four
sixty-five sixty-six sixty-seven sixty-eight sixty-nine
seventy seventy-one seventy-two seventy-three seventy-four
seventy-five seventy-six seventy-seven seventy-eight seventy-nine
eighty eighty-one eighty-two eighty-three eighty-four
eighty-five eighty-six eighty-seven eighty-eight eighty-nine
ninety ninety-one ninety-two ninety-three ninety-four
ninety-five ninety-six ninety-seven ninety-eight ninety-nine
"""
WORDS = [*TABLE.split(), "a hundred"]


@pytest.mark.parametrize(
    ("expected", "value", "form"),
    [
        # None: thousands.
        ("0", 0, ""),
        ("7", 7, ""),
        ("999", 999, ""),
        ("1,000", 1000, ""),
        ("1,048,576", 1024 * 1024, ""),
        ("1" + ",000" * 10, 10**30, ""),
        ("3", 3.0, ""),
        # Plain: no separators.
        ("2026", 2026, "plain"),
        ("1048576", 1_048_576, "plain"),
        ("5", 5.0, "plain"),
        # Decimals, of whole numbers too.
        ("3", 3, ".0"),
        ("3.00", 3, ".2"),
        ("0.333", 1 / 3, ".3"),
        ("1,234.5", 1234.5, ".1"),
        ("0.05", 0.05, ".2"),
        ("2.0000000000", 2, ".10"),
        # Percent.
        (f"30{GAP}%", 0.3, "%"),
        (f"30{GAP}%", 0.3, " %"),
        (f"100{GAP}%", 1, "%"),
        (f"42.5{GAP}%", 0.425, ".1%"),
        (f"42.5{GAP}%", 0.425, ".1 %"),
        (f"1,200{GAP}%", 12, "%"),
        (f"0.10{GAP}%", 0.001, ".2%"),
        # Text stands as it is.
        ("Reply in French.", "Reply in French.", ""),
        ("<b> & co", "<b> & co", "text"),
        ("", "", "text"),
    ],
)
def test_forms(expected: str, value: Value, form: str) -> None:
    """A figure would be written otherwise than the contributing page says."""
    assert expected == write(value, form)


@pytest.mark.parametrize(
    ("expected", "value", "form"),
    [
        # Bytes one by one.
        (f"512{GAP}B", 512, "B"),
        (f"1,024{GAP}B", 1024, "B"),
        # 147,456 = 144 x 1,024; a mebibyte is 1,024 x 1,024 = 1,048,576; a gibibyte 1,073,741,824.
        (f"144{GAP}KiB", 147_456, "KiB"),
        (f"1{GAP}MiB", 1_048_576, "MiB"),
        (f"1{GAP}GiB", 1_073_741_824, "GiB"),
        (f"1{GAP}TiB", 1_099_511_627_776, "TiB"),
        # 5.625 x 1,073,741,824 = 5,368,709,120 + 671,088,640.
        (f"5.625{GAP}GiB", 5_368_709_120 + 671_088_640, "GiB"),
        (f"1.5{GAP}KiB", 1_024 + 512, "KiB"),
        (f"1.25{GAP}KiB", 1_024 + 256, "KiB"),
        (f"1.125{GAP}KiB", 1_024 + 128, "KiB"),
        (f"0.5{GAP}KiB", 512, "KiB"),
        (f"0{GAP}MiB", 0, "MiB"),
        # Decimal units.
        (f"1{GAP}kB", 1_000, "kB"),
        (f"1{GAP}MB", 1_000_000, "MB"),
        (f"1{GAP}GB", 1_000_000_000, "GB"),
        (f"1{GAP}TB", 1_000_000_000_000, "TB"),
        (f"147.456{GAP}kB", 147_456, "kB"),
        (f"16.4{GAP}GB", 2 * 8_200_000_000, "GB"),
        (f"1,000{GAP}GB", 1_000_000_000_000, "GB"),
        # Rounded: 6,039,797,760 / 10**9 = 6.03979776.
        (f"6{GAP}GB", 6_039_797_760, ".0 GB"),
        (f"6.0{GAP}GB", 6_039_797_760, ".1 GB"),
        (f"6.04{GAP}GB", 6_039_797_760, ".2 GB"),
        (f"6.04{GAP}GB", 6_039_797_760, ".2GB"),
        (f"6.03979776{GAP}GB", 6_039_797_760, ".8 GB"),
        # 1,500,000 / 1,048,576 = 1.430511474609375.
        (f"1.431{GAP}MiB", 1_500_000, ".3 MiB"),
        # In words.
        (f"about{GAP}6{GAP}gigabytes", 6_039_797_760, "about GB"),
        (f"about{GAP}6{GAP}gibibytes", 6_039_797_760, "about GiB"),
        (f"about{GAP}6,040{GAP}megabytes", 6_039_797_760, "about MB"),
        (f"about{GAP}5,760{GAP}mebibytes", 6_039_797_760, "about MiB"),
        (f"about{GAP}144{GAP}kibibytes", 147_456, "about KiB"),
        (f"about{GAP}147{GAP}kilobytes", 147_456, "about kB"),
        (f"about{GAP}1{GAP}terabyte", 1_100_000_000_000, "about TB"),
        (f"about{GAP}1{GAP}tebibyte", 1_099_511_627_776 - 1, "about TiB"),
        (f"about{GAP}1{GAP}gigabyte", 500_000_001, "about GB"),
        (f"about{GAP}12{GAP}bytes", 12, "about B"),
    ],
)
def test_bytes(expected: str, value: Value, form: str) -> None:
    """A size would be off by the few per cent that lie between 1,000 and 1,024, or by a power of them."""
    assert expected == write(value, form)


@pytest.mark.parametrize(
    ("expected", "value", "form"),
    [
        # Halves and eighths are exact in binary: they are ties, and go to the even neighbour.
        ("2", 1.5, ".0"),
        ("2", 2.5, ".0"),
        ("4", 3.5, ".0"),
        ("0.12", 0.125, ".2"),
        ("0.38", 0.375, ".2"),
        ("0.62", 0.625, ".2"),
        (f"12.5{GAP}%", 0.125, "%"),
        (f"37.5{GAP}%", 0.375, "%"),
        # 2.675 is 2.67499999999999982236431605997495353221893310546875: no tie, it lies below.
        ("2.67", 2.675, ".2"),
        # 1.005 is 1.00499999999999989..., 1.115 is 1.1149999999999999911...; 0.145 lies below, 0.285 below.
        ("1.00", 1.005, ".2"),
        ("1.11", 1.115, ".2"),
        # 0.15 is 0.1499999999999999944..., 0.35 is 0.34999999999999997...; 0.25 is exact.
        ("0.1", 0.15, ".1"),
        ("0.3", 0.35, ".1"),
        ("0.2", 0.25, ".1"),
        # A figure beyond the whole numbers of a float keeps every digit: no way leads through a float.
        ("9,007,199,254,740,993.0", 2**53 + 1, ".1"),
        (f"9,007,199,254,740,993{GAP}B", 2**53 + 1, "B"),
        # Whole bytes too: 2,500 B lie midway between 2 and 3 kB, 1,536 B midway between 1 and 2 KiB.
        (f"2{GAP}kB", 2_500, ".0 kB"),
        (f"4{GAP}kB", 3_500, ".0 kB"),
        (f"2{GAP}KiB", 1_536, ".0 KiB"),
        (f"about{GAP}2{GAP}kilobytes", 2_500, "about kB"),
        (f"about{GAP}4{GAP}kilobytes", 3_500, "about kB"),
        # Rounding carries into the whole part.
        ("1.00", 0.999, ".2"),
        ("1,000.0", 999.96, ".1"),
    ],
)
def test_rounding(expected: str, value: Value, form: str) -> None:
    """Figures would be rounded on what a float prints as and not on what it is, or ties would all go up."""
    assert expected == write(value, form)


@pytest.mark.parametrize(
    ("expected", "value", "form"),
    [
        (f"{MINUS}7", -7, ""),
        (f"{MINUS}1,000", -1000, ""),
        (f"{MINUS}1000", -1000, "plain"),
        (f"{MINUS}0.50", -0.5, ".2"),
        (f"{MINUS}1,234.5", -1234.5, ".1"),
        (f"{MINUS}12.5{GAP}%", -0.125, ".1%"),
        (f"{MINUS}1.5{GAP}KiB", -1536, "KiB"),
        (f"{MINUS}0.12{GAP}GB", -120_000_000, ".2 GB"),
        # What rounds to nothing has no sign.
        ("0.0", -0.0, ".1"),
        ("0", -0.0, ""),
        # A text keeps its own.
        ("-a-b", "-a-b", ""),
        (f"{MINUS}1, 2, {MINUS}3", [-1, 2, -3], ""),
    ],
)
def test_negative(expected: str, value: Value, form: str) -> None:
    """A hyphen would stand for a minus, or the checker of typed signs would be told nothing."""
    assert expected == write(value, form)


@pytest.mark.parametrize(
    ("expected", "value", "form"),
    [
        ("3, 4, 2", [3, 4, 2], ""),
        ("1,000, 2", [1000, 2], ""),
        ("three, four", [3, 4], "words"),
        (f"50{GAP}%, 25{GAP}%", [0.5, 0.25], "%"),
        ("user, assistant", ["user", "assistant"], ""),
        ("user, assistant", ["user", "assistant"], "text"),
        ("user, 3", ["user", 3], ""),
        ("1", [1], ""),
    ],
)
def test_lists(expected: str, value: Value, form: str) -> None:
    """A list would not be written item by item, in the form that was asked for."""
    assert expected == write(value, form)


@pytest.mark.parametrize("number", range(101))
def test_words(number: int) -> None:
    """A number would be misspelt, or two numbers would share a word."""
    assert len(WORDS) == len(set(WORDS)) == 101
    assert WORDS[number] == in_words(number) == write(number, "words")
    assert number == WORDS.index(write(number, "words"))
    assert WORDS[number][0].upper() + WORDS[number][1:] == write(number, "Words")
    assert WORDS[number] == write(float(number), "words")


@pytest.mark.parametrize(
    ("says", "value", "form"),
    [
        # Nothing is rounded unasked.
        ("0.5 is no whole number", 0.5, ""),
        ("0.5 is no whole number", 0.5, "plain"),
        ("7.5 is no whole number", 7.5, "words"),
        ("is no whole number", [1, 0.5], ""),
        ("would be rounded", 1, "KiB"),
        ("would be rounded", 6_039_797_760, "GB"),
        ("would be rounded", 147_456 + 1, "KiB"),
        # Words end at a hundred.
        ("101 is not written in words", 101, "words"),
        ("-1 is not written in words", -1, "words"),
        ("1000 is not written in words", 1000, "Words"),
        # Too small for the unit.
        ("choose a smaller unit", 499_999_999, "about GB"),
        ("choose a smaller unit", 500_000_000, "about GB"),
        ("choose a smaller unit", 0, "about B"),
        ("choose a smaller unit", -6_000_000_000, "about GB"),
        # Text and truth are no numbers.
        ("is text, 'seven'", "seven", "words"),
        ("is text, '7'", "7", "plain"),
        ("is text, '7'", "7", ".2"),
        ("is text, 'a'", [1, "a"], "plain"),
        ("the value is True", True, ""),
        ("the value is False", False, ".2"),
        ("the value is True", [True], ""),
        ("the value is []", [], ""),
        ("the value is [[1], [2]]", [[1], [2]], ""),
        ("the value is [1, [2]]", [1, [2]], ""),
        # Forms there are not.
        *(
            (f"unknown form {form!r}", 5, form)
            for form in (
                "text",
                "WORDS",
                "word",
                ".",
                "..2",
                ".123",
                "2",
                "2 GB",
                ".2 gb",
                "Gb",
                "KB",
                "kiB",
                "PB",
                "GB.2",
                ".2%%",
                "%\n",
                "about",
                "about ",
                "about %",
                "about gigabytes",
                "aboutGB",
                "about .2",
                "about .2 GB",
            )
        ),
    ],
)
def test_refusals(says: str, value: Value, form: str) -> None:
    """A figure would be written wrongly, or rounded, where its author had to be asked."""
    with pytest.raises(ValueError, match=re.escape(says)):
        write(value, form)


def test_an_unknown_form_lists_the_known() -> None:
    """Its author would have to look the forms up."""
    with pytest.raises(ValueError, match=r"forms are.*words.*MiB.*about GB"):
        write(5, "roman")


@same_every_run
@given(st.integers(-(10**40), 10**40), st.integers(0, 12))
def test_whole_numbers_lose_nothing(number: int, places: int) -> None:
    """Some whole number, small or huge, would lose a digit on its way through a form."""
    sign = MINUS if number < 0 else ""
    digits = str(number).lstrip("-")
    # The slow way: commas from the right, three digits at a time.
    groups = []
    while digits:
        groups.insert(0, digits[-3:])
        digits = digits[:-3]
    expected = sign + ",".join(groups)
    assert expected == write(number)
    assert expected + ("." + "0" * places if places else "") == write(number, f".{places}")
    assert expected.replace(",", "") == write(number, "plain")


@pytest.mark.parametrize(("value", "form"), [(0.5, ".0"), (-0.001, ".2"), (600, ".2 GB"), (0.00004, ".1%")])
def test_nothing_is_written_as_zero_but_zero(value: float, form: str) -> None:
    """A page would say that something costs nothing, though it does."""
    with pytest.raises(ValueError, match="would be written as zero"):
        write(value, form)
