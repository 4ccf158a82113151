"""How a figure is written: thousands, decimals, percent, bytes, words."""

from __future__ import annotations

import re
from fractions import Fraction

Scalar = int | float | str | bool
Value = Scalar | list["Value"]

NARROW = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"

UNITS = {"B": 1}
UNITS |= {unit: 1024**power for power, unit in enumerate(("KiB", "MiB", "GiB", "TiB"), start=1)}
UNITS |= {unit: 1000**power for power, unit in enumerate(("kB", "MB", "GB", "TB"), start=1)}
UNIT_NAMES = {
    "B": "byte",
    "KiB": "kibibyte",
    "MiB": "mebibyte",
    "GiB": "gibibyte",
    "TiB": "tebibyte",
    "kB": "kilobyte",
    "MB": "megabyte",
    "GB": "gigabyte",
    "TB": "terabyte",
}

SMALL_WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
TEN_WORDS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
GREAT_WORDS = ["hundred", "thousand", "million", "billion", "trillion", "dozen"]
NUMBER_WORDS = (*SMALL_WORDS, *TEN_WORDS, *GREAT_WORDS)

FORM = re.compile(r"(?P<about>about )?(?:\.(?P<decimals>\d{1,2}))? ?(?P<unit>%|B|[KMGT]iB|[kMGT]B)?\Z")
HELP = (
    "forms are '' (thousands), 'plain', 'words', 'Words', 'text', '.2' (decimals), '%', '.1%', 'MiB' (exact), "
    "'.2 GB' (rounded) and 'about GB'"
)


def write(value: Value, form: str = "") -> str:
    r"""The written form of a figure.

    Args:
        value: a finite number, a text for the form `text`, or a flat list, written with commas between.
        form: see `HELP`; without one a whole number is written with thousands separators.

    Raises:
        ValueError: the form is unknown or does not suit the value; nothing is rounded unasked.

    >>> write(6_039_797_760, ".2 GB"), write(7, "words"), write(0.425, ".1%")
    ('6.04\xa0GB', 'seven', '42.5\xa0%')
    """
    if isinstance(value, str):
        if form in ("", "text"):
            return value
        raise ValueError(f"the value is text, {value!r}, and cannot be written as {form!r}")
    if isinstance(value, list) and value and not any(isinstance(item, list) for item in value):
        return ", ".join(write(item, form) for item in value)
    if isinstance(value, (bool, list)):
        raise ValueError(f"the value is {value!r}: a figure is a number, a text or a flat list of those")
    if form in ("words", "Words"):
        words = in_words(whole(value))
        return words.capitalize() if form == "Words" else words
    if form == "plain":
        return signed(str(whole(value)))
    parts = FORM.match(form)
    if parts is None or (parts["about"] and (parts["decimals"] or parts["unit"] not in UNITS)):
        raise ValueError(f"unknown form {form!r}: {HELP}")
    exact = Fraction(value)
    if parts["about"]:
        return about(exact, parts["unit"])
    if parts["unit"] == "%":
        percent = exact * 100 if parts["decimals"] else Fraction(str(value)) * 100
        text = decimals(percent, int(parts["decimals"])) if parts["decimals"] else shortest(percent)
        return signed(text) + NARROW + "%"
    if parts["unit"]:
        amount = exact / UNITS[parts["unit"]]
        text = shortest(amount) if parts["decimals"] is None else decimals(amount, int(parts["decimals"]))
        return signed(text) + NARROW + parts["unit"]
    if parts["decimals"] is not None:
        return signed(decimals(exact, int(parts["decimals"])))
    return signed(f"{whole(value):,}")


def whole(value: Scalar) -> int:
    """The value as a whole number; a ValueError where that would round it."""
    if isinstance(value, float) and not value.is_integer():
        raise ValueError(f"{value!r} is no whole number: say how many decimals, such as form '.2'")
    return int(value)


def decimals(amount: Fraction, places: int) -> str:
    """The amount with that many decimals, rounded half to even on its exact value."""
    scaled = round(amount * 10**places)
    if amount and not scaled:
        raise ValueError(f"{float(amount)} would be written as zero: say more decimals, or choose a smaller unit")
    head, tail = divmod(abs(scaled), 10**places)
    return ("-" if scaled < 0 else "") + f"{head:,}" + (f".{tail:0{places}}" if places else "")


def shortest(amount: Fraction) -> str:
    """The amount exactly, with at most three decimals; a ValueError where that would round it."""
    for places in range(4):
        if (amount * 10**places).denominator == 1:
            return decimals(amount, places)
    raise ValueError(f"{float(amount)} would be rounded: say how many decimals, such as form '.2 GB'")


def about(amount: Fraction, unit: str) -> str:
    """A rough figure in words a person would say: `about 6 gigabytes`."""
    count = round(amount / UNITS[unit])
    if count < 1:
        raise ValueError(f"{float(amount)} bytes are less than half a {UNIT_NAMES[unit]}: choose a smaller unit")
    return f"about{NARROW}{count:,}{NARROW}{UNIT_NAMES[unit]}" + ("s" if count != 1 else "")


def in_words(number: int) -> str:
    """A number from 0 to 100 in words."""
    if 0 <= number < 20:
        return SMALL_WORDS[number]
    if number == 100:
        return "a hundred"
    if 20 <= number < 100:
        tens, ones = divmod(number, 10)
        return TEN_WORDS[tens - 2] + (f"-{SMALL_WORDS[ones]}" if ones else "")
    raise ValueError(f"{number} is not written in words here: only 0 to 100 are")


def signed(text: str) -> str:
    """The text with a real minus sign."""
    return text.replace("-", MINUS, 1) if text.startswith("-") else text
