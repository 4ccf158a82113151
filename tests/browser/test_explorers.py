"""The explorers in a real browser: what they show against Python, how they are moved, and what they leave alone."""

from __future__ import annotations

import importlib
import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from live_numbers import expressions, forms
from tests.browser.conftest import BUDGET, ROOT

SEED = 4
CALL = re.compile(r"\[\[% call explorer\((.*?)\) %\]\]", re.S)
GIVEN = re.compile(r"""\b(?:given|number)\(([^()]*)\)""")


@dataclass(frozen=True)
class Asked:
    """An explorer as its page asks for it."""

    path: str
    name: str
    topic: str
    controls: dict[str, str]  # variable: what it runs over
    labels: dict[str, str]  # variable: label
    results: dict[str, Any]
    forms: dict[str, str]


def asked() -> Iterator[Asked]:
    """Every explorer, read from the Markdown of the pages."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        for call in CALL.findall(re.sub(r"\[\[% raw %\]\].*?\[\[% endraw %\]\]", "", text, flags=re.S)):
            yield from [_read(page, text, call)]


def _read(page: Path, text: str, call: str) -> Asked:
    """One call, as Python reads it: `~` joins texts, and what an author chose is written as on the page."""
    joined = GIVEN.sub(lambda found: repr(forms.write(*eval(f"[{found[1]}]"))), call).replace("~", "+")
    (name, controls, results), options = eval(f"(lambda *given, **options: (given, options))({joined})")
    parts = {label: text.partition(" in ") for label, text in controls.items()}
    topic = re.search(r"^topic: (.+)$", text, re.M)
    path = page.relative_to(ROOT / "docs").with_suffix("").as_posix().removesuffix("index")
    return Asked(
        path and f"{path.rstrip('/')}/",
        name,
        topic[1] if topic else page.stem,
        {variable: within for variable, _, within in parts.values()},
        {variable: label for label, (variable, _, _) in parts.items()},
        results,
        options.get("forms", {}),
    )


EXPLORERS = [*asked()]
EACH = pytest.mark.parametrize("asked", EXPLORERS, ids=[each.name for each in EXPLORERS])


class Lesson:
    """The lesson code behind an explorer, asked directly: neither the build nor the page has a part in it."""

    def __init__(self, asked: Asked) -> None:
        """Import the page's module, and the others by their names."""
        self.asked = asked
        origins = expressions.page_names(ROOT / "lesson_code", asked.topic)
        self.names = dict(vars(importlib.import_module(f"lesson_code.{asked.topic}")))
        for name, origin in origins.items():
            if name not in self.names:
                self.names[name] = importlib.import_module(origin)

    def choices(self) -> dict[str, list[Any]]:
        """What each variable may be."""
        return {variable: list(eval(within, dict(self.names))) for variable, within in self.asked.controls.items()}

    def says(self, setting: dict[str, Any]) -> dict[str, list[str]]:
        """What each result says at a setting: a text, or one for each row."""
        said = {}
        for label, given in self.asked.results.items():
            expression = given if isinstance(given, str) else given[-1]
            value = eval(expression, self.names | setting)
            values = [value] if isinstance(given, str) else list(value)
            said[label] = [self.written(label, each) for each in values]
        return said

    def written(self, label: str, value: Any) -> str:
        """A value as the page writes it."""
        value = list(value) if isinstance(value, tuple) else value
        return forms.write(value, "" if isinstance(value, str) else self.asked.forms.get(label, ""))


READ = """name => {
    const box = document.querySelector(`[data-explorer="${name}"]`);
    const said = {};
    for (const cell of box.querySelectorAll("[data-result]")) {
        const table = cell.closest("table");
        const caption = table.querySelector("caption");
        const label = caption ? caption.textContent : cell.closest("tr").querySelector("th").textContent;
        (said[label] ??= []).push(cell.textContent);
    }
    return said;
}"""
STATE = """name => [...document.querySelectorAll(`[data-explorer="${name}"] .ln-control`)].map(control => {
    const inputs = [...control.querySelectorAll("input")];
    const one = inputs[0] ?? control.querySelector("select");
    if (one.type === "radio") return inputs.findIndex(input => input.checked);
    if (one.type === "checkbox") return Number(one.checked);
    return one.tagName === "SELECT" ? one.selectedIndex : Number(one.value);
})"""
FOCUSED = """() => {
    const control = document.activeElement.closest(".ln-control");
    const box = document.activeElement.closest("[data-explorer]");
    return control ? [box.dataset.explorer, [...box.querySelectorAll(".ln-control")].indexOf(control)] : null;
}"""
KIND = "() => document.activeElement.type"


def tab_to(page: Any, name: str, place: int) -> None:
    """Press Tab, or Shift and Tab, until a control has the focus."""
    for _ in range(600):
        focused = page.evaluate(FOCUSED)
        if focused == [name, place]:
            return
        back = focused is not None and focused[0] == name and focused[1] > place
        page.keyboard.press("Shift+Tab" if back else "Tab")
    raise AssertionError(f"Tab never reaches control {place} of {name}")


def choose(page: Any, name: str, places: list[int]) -> None:
    """Make a setting with the keyboard alone."""
    for place, wanted in enumerate(places):
        now = page.evaluate(STATE, name)[place]
        if now == wanted:
            continue
        tab_to(page, name, place)
        kind = page.evaluate(KIND)
        if kind == "checkbox":
            page.keyboard.press("Space")
            continue
        key = {"radio": ("ArrowRight", "ArrowLeft")}.get(kind, ("ArrowDown", "ArrowUp"))
        if kind == "range":
            key = ("ArrowRight", "ArrowLeft")
        for _ in range(abs(wanted - now)):
            page.keyboard.press(key[0] if wanted > now else key[1])
    assert places == page.evaluate(STATE, name)


def expect_shown(page: Any, name: str, said: dict[str, list[str]]) -> None:
    """Wait until the page says that, or fail with what it says."""
    try:
        page.wait_for_function(f"([name, said]) => JSON.stringify(({READ})(name)) === said", arg=[name, compact(said)])
    except Exception:
        assert said == page.evaluate(READ, name)
        raise


def compact(said: dict[str, list[str]]) -> str:
    """What JavaScript's `JSON.stringify` makes of it."""
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


def in_order(asked: Asked, said: dict[str, list[str]]) -> dict[str, list[str]]:
    """Single results come first on the page."""
    single = {label: said[label] for label, given in asked.results.items() if isinstance(given, str)}
    return single | {label: texts for label, texts in said.items() if label not in single}


@EACH
def test_what_is_shown_is_what_python_says(visit: Callable[..., Any], asked: Asked) -> None:
    """A reader who moved the controls, with the keyboard alone, would be shown another result than the code gives."""
    lesson = Lesson(asked)
    choices = lesson.choices()
    window = visit(asked.path)
    luck = random.Random(SEED)
    for _ in range(BUDGET["explorer_settings"]):
        places = [luck.randrange(len(values)) for values in choices.values()]
        choose(window.page, asked.name, places)
        setting = {name: values[place] for (name, values), place in zip(choices.items(), places, strict=True)}
        expect_shown(window.page, asked.name, in_order(asked, lesson.says(setting)))
    assert [] == window.errors
    assert [] == window.foreign


def key(value: Any) -> str:
    """A choice as it stands in an address."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


@EACH
def test_the_address_keeps_a_setting_and_restores_it(visit: Callable[..., Any], asked: Asked) -> None:
    """A link would show somebody else another setting than the one that was meant."""
    lesson = Lesson(asked)
    choices = lesson.choices()
    page = visit(asked.path).page
    start = page.evaluate(STATE, asked.name)
    places = [(place + 1) % len(values) for place, values in zip(start, choices.values(), strict=True)]
    choose(page, asked.name, places)
    wanted = {
        f"{asked.name}.{name}": key(values[at]) for (name, values), at in zip(choices.items(), places, strict=True)
    }
    page.wait_for_function(
        "wanted => JSON.stringify([...new URLSearchParams(location.search)].sort()) === wanted",
        arg=json.dumps(sorted(map(list, wanted.items())), ensure_ascii=False, separators=(",", ":")),
    )
    link = page.locator(f'[data-explorer="{asked.name}"] .ln-foot a')
    link.focus()
    shared = link.evaluate("link => link.href")
    assert shared.endswith(f"#explorer-{asked.name}")
    other = visit(asked.path).page
    other.goto(shared)
    setting = {name: values[at] for (name, values), at in zip(choices.items(), places, strict=True)}
    expect_shown(other, asked.name, in_order(asked, lesson.says(setting)))
    assert places == other.evaluate(STATE, asked.name)
    choose(other, asked.name, start)
    other.wait_for_function("() => location.search === ''")


@EACH
@pytest.mark.parametrize("bad", ["nonsense", "", "-1", "1e99", "<b>", "%00"])
def test_a_bad_address_is_ignored(visit: Callable[..., Any], asked: Asked, bad: str) -> None:
    """A mistyped link would break the page, or show a setting that does not exist."""
    query = "&".join(f"{asked.name}.{variable}={bad}" for variable in asked.controls)
    window = visit(f"{asked.path}?{query}&other.limit=3&{asked.name}.unknown=1&h=cat")
    start = visit(asked.path).page
    assert start.evaluate(STATE, asked.name) == window.page.evaluate(STATE, asked.name)
    assert start.evaluate(READ, asked.name) == window.page.evaluate(READ, asked.name)
    assert [] == window.errors
