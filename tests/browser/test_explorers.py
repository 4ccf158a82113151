"""The explorers in a real browser: what they show against Python, how they are moved, and what they leave alone."""

from __future__ import annotations

import importlib
import json
import random
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import expect

from live_numbers import expressions, forms
from tests.browser.conftest import BUDGET, LOOKS, ROOT, look

SEED = 4
CALL = re.compile(r"\[\[% call explorer\((.*?)\) %\]\]", re.S)


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
    """Every explorer, read from the Markdown of the pages; what they only show stands between raw and endraw."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = re.sub(r"\[\[% raw %\]\].*?\[\[% endraw %\]\]", "", page.read_text(encoding="utf-8"), flags=re.S)
        found = re.search(r"^topic: (.+)$", text, re.M)
        path = page.relative_to(ROOT / "docs").with_suffix("").as_posix().removesuffix("index").rstrip("/")
        for call in CALL.findall(text):
            yield _read(path and f"{path}/", found[1] if found else page.stem, call)


def _read(path: str, topic: str, call: str) -> Asked:
    """One call, as Python reads it: `~` joins texts, and figures in a label are written as on the page."""
    names = names_of(topic) if "number(" in call else {}
    macros = {
        "given": forms.write,
        "number": lambda expression, form="": forms.write(eval(expression, dict(names)), form),
        "explorer": lambda *given, **options: (given, options),
    }
    (name, controls, results), options = eval(f"explorer({call.replace('~', '+')})", macros)
    parts = {label: text.partition(" in ") for label, text in controls.items()}
    return Asked(
        path,
        name,
        topic,
        {variable: within for variable, _, within in parts.values()},
        {variable: label for label, (variable, _, _) in parts.items()},
        results,
        options.get("forms", {}),
    )


def names_of(topic: str) -> dict[str, Any]:
    """What the expressions of a page may use: the names of its module, and the other modules by theirs."""
    names = dict(vars(importlib.import_module(f"lesson_code.{topic}")))
    for name, origin in expressions.page_names(ROOT / "lesson_code", topic).items():
        if name not in names:
            names[name] = importlib.import_module(origin)
    return names


EXPLORERS = [*asked()]
EACH = pytest.mark.parametrize("asked", EXPLORERS, ids=[each.name for each in EXPLORERS])


class Lesson:
    """The lesson code behind an explorer, asked directly: neither the build nor the page has a part in it."""

    def __init__(self, asked: Asked) -> None:
        """Import the page's module."""
        self.asked = asked
        self.names = names_of(asked.topic)

    def choices(self) -> dict[str, list[Any]]:
        """What each variable may be."""
        return {variable: list(eval(within, dict(self.names))) for variable, within in self.asked.controls.items()}

    def says(self, setting: dict[str, Any]) -> dict[str, list[str]]:
        """What each result says at a setting: a text, or one for each row."""
        said = {}
        for label, given in self.asked.results.items():
            expression = given if isinstance(given, str) else given[-1]
            # In a thread of its own: Playwright's event loop runs in this one, and lessons may run theirs.
            with ThreadPoolExecutor(1) as alone:
                value = alone.submit(eval, expression, self.names | setting).result()
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
    if (!control) return ["", 0, ""];
    const box = control.closest("[data-explorer]");
    const place = [...box.querySelectorAll(".ln-control")].indexOf(control);
    return [box.dataset.explorer, place, document.activeElement.type];
}"""


def tab_to(page: Any, name: str, place: int) -> str:
    """Press Tab, or Shift and Tab, until a control has the focus; say of what kind it is."""
    for _ in range(600):
        focused, now, kind = page.evaluate(FOCUSED)
        if (focused, now) == (name, place):
            return str(kind)
        for _ in range(abs(place - now) if focused == name else 1):
            page.keyboard.press("Shift+Tab" if focused == name and now > place else "Tab")
    raise AssertionError(f"Tab never reaches control {place} of {name}")


def choose(page: Any, name: str, places: list[int]) -> None:
    """Make a setting with the keyboard alone."""
    for place, (now, wanted) in enumerate(zip(page.evaluate(STATE, name), places, strict=True)):
        if now == wanted:
            continue
        kind = tab_to(page, name, place)
        if kind == "checkbox":
            page.keyboard.press("Space")
            continue
        forwards, back = ("ArrowDown", "ArrowUp") if kind == "select-one" else ("ArrowRight", "ArrowLeft")
        for _ in range(abs(wanted - now)):
            page.keyboard.press(forwards if wanted > now else back)
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


def tour(settings: list[list[int]]) -> Iterator[list[int]]:
    """Settings in an order in which few keys have to be pressed: the next is always the one that is nearest."""
    left, now = settings[1:], settings[0]
    yield now
    while left:
        now = min(left, key=lambda other: sum(2 * (a != b) + abs(a - b) for a, b in zip(now, other, strict=True)))
        left.remove(now)
        yield now


@EACH
def test_what_is_shown_is_what_python_says(visit: Callable[..., Any], asked: Asked) -> None:
    """A reader who moved the controls, with the keyboard alone, would be shown another result than the code gives."""
    lesson = Lesson(asked)
    choices = lesson.choices()
    window = visit(asked.path)
    luck = random.Random(SEED)
    settings = [
        [luck.randrange(len(values)) for values in choices.values()] for _ in range(BUDGET["explorer_settings"])
    ]
    for places in tour(settings):
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
    page = visit(f"{asked.path}#explorer-{asked.name}").page  # there, and not at the top, Tab begins
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


BAD = ["nonsense", "", "-1", "1e99", "<b>", "%00"]


@EACH
def test_a_bad_address_is_ignored(visit: Callable[..., Any], asked: Asked) -> None:
    """A mistyped link would break the page, or show a setting that does not exist."""
    window = visit(asked.path)
    start, said = window.page.evaluate(STATE, asked.name), window.page.evaluate(READ, asked.name)
    for first in range(0, len(BAD), 2):
        bad = [f"{asked.name}.{variable}={BAD[(first + i) % 6]}" for i, variable in enumerate(asked.controls)]
        address = f"{asked.path}?{'&'.join(bad)}&other.limit=3&{asked.name}.unknown=1&h=cat"
        with window.page.expect_response("**/explorers/*.json"):
            window.to(address)
        window.page.wait_for_load_state("networkidle")
        assert start == window.page.evaluate(STATE, asked.name)
        assert said == window.page.evaluate(READ, asked.name)
    assert [] == window.errors


def test_what_is_wrong_in_an_address_spoils_nothing_else(visit: Callable[..., Any]) -> None:
    """One mistyped part would lose the rest of a setting that was shared."""
    each = next(each for each in EXPLORERS if len(each.controls) > 1)
    (first, values), *_ = Lesson(each).choices().items()
    variables = [*each.controls]
    page = visit(f"{each.path}?{each.name}.{variables[1]}=nonsense&{each.name}.{first}={key(values[-1])}").page
    page.wait_for_function(f"([name, at]) => ({STATE})(name)[0] === at", arg=[each.name, len(values) - 1])


def test_an_address_shares_several_explorers(visit: Callable[..., Any]) -> None:
    """Two explorers of a page would take each other's settings, or only one of them be restored."""
    path = next(each.path for each in EXPLORERS if sum(each.path == other.path for other in EXPLORERS) > 1)
    two = [each for each in EXPLORERS if each.path == path][:2]
    page = visit(path).page
    starts = [page.evaluate(STATE, each.name) for each in two]
    wanted = [
        [(start[0] + 1) % len(next(iter(Lesson(each).choices().values()))), *start[1:]]
        for each, start in zip(two, starts, strict=True)
    ]
    for each, places in zip(two, wanted, strict=True):
        choose(page, each.name, places)
        page.wait_for_function("name => location.search.includes(`${name}.`)", arg=each.name)
    page.reload()
    for each, places in zip(two, wanted, strict=True):
        page.wait_for_function(
            f"([name, places]) => JSON.stringify(({STATE})(name)) === places",
            arg=[each.name, json.dumps(places, separators=(",", ":"))],
        )


def first_with(kind: str) -> Asked:
    """An explorer whose first control is a slider."""
    return next(each for each in EXPLORERS if kind in next(iter(each.controls.values())))


def test_it_is_announced_on_change_and_not_while_dragging(visit: Callable[..., Any]) -> None:
    """A screen reader would talk without a pause while somebody drags, or say nothing at all."""
    each = first_with("range(")
    page = visit(each.path).page
    box = page.locator(f'[data-explorer="{each.name}"]')
    live = "box => [...box.querySelectorAll('[aria-live], [role=status], [role=alert], output')]"
    assert box.evaluate(f"box => ({live})(box).filter(e => e.ariaLive !== 'off').map(e => e.className)") == ["ln-said"]
    slider, said = box.locator("input[type=range]").first, box.locator(".ln-said")
    slider.scroll_into_view_if_needed()
    place = slider.bounding_box()
    before, shown = page.evaluate(READ, each.name), slider.get_attribute("aria-valuetext")
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] - 4, place["y"] + place["height"] / 2, steps=8)
    page.wait_for_function(
        f"([name, before]) => JSON.stringify(({READ})(name)) !== before", arg=[each.name, compact(before)]
    )
    assert "" == said.text_content()
    assert shown != slider.get_attribute("aria-valuetext")
    assert slider.get_attribute("aria-valuetext") == box.locator("output").first.text_content()
    page.mouse.up()
    page.wait_for_function("said => said.textContent !== ''", arg=said.element_handle())
    heard = said.text_content()
    variable = next(iter(each.controls))
    assert heard.startswith(f"{each.labels[variable]}: {slider.get_attribute('aria-valuetext')}")
    changed = [
        label for label, texts in page.evaluate(READ, each.name).items() if texts != before[label] and len(texts) == 1
    ]
    assert changed
    assert all(f"{label}: {page.evaluate(READ, each.name)[label][0]}" in heard for label in changed)


EVERY_SETTING = """async ([name, most]) => {
    const box = document.querySelector(`[data-explorer="${name}"]`);
    const controls = [...box.querySelectorAll(".ln-control")].map(c => [...c.querySelectorAll("input, select")]);
    const counts = controls.map(([one, ...rest]) => one.type === "range" ? Number(one.max) + 1
        : one.type === "checkbox" ? 2 : one.tagName === "SELECT" ? one.options.length : rest.length + 1);
    const all = counts.reduce((a, b) => a * b, 1);
    const found = new Set();
    const words = new Set();
    for (let n = 0; n < all; n += Math.max(1, Math.floor(all / most))) {
        let rest = n;
        controls.forEach((inputs, i) => {
            const at = rest % counts[i];
            rest = Math.floor(rest / counts[i]);
            if (inputs[0].type === "radio") inputs[at].checked = true;
            else if (inputs[0].type === "checkbox") inputs[0].checked = at === 1;
            else if (inputs[0].tagName === "SELECT") inputs[0].selectedIndex = at;
            else inputs[0].value = at;
            inputs[0].dispatchEvent(new Event("input", { bubbles: true }));
        });
        await new Promise((done) => setTimeout(done));
        const top = box.getBoundingClientRect().top;
        const next = box.closest("figure").nextElementSibling.getBoundingClientRect().top;
        const rows = [...box.querySelectorAll("tr, .ln-control, .ln-control > *")].map(e => e.getBoundingClientRect());
        found.add(JSON.stringify([next - top, ...rows.map(r => [r.top - top, r.left])]));
        words.add(box.textContent);
        if (document.documentElement.scrollWidth > innerWidth) found.add("sideways");
    }
    return [found.size, words.size, [...found].slice(0, 2)];
}"""


@EACH
def test_nothing_moves(visit: Callable[..., Any], asked: Asked) -> None:
    """The page would jump under the reader's finger, or have to be scrolled sideways, at some setting."""
    page = visit(asked.path).page
    with page.expect_response("**/explorers/*.json"):
        page.locator(f'[data-explorer="{asked.name}"]').hover()
    for palette, width in LOOKS:
        look(page, palette, width)
        page.locator(f'[data-explorer="{asked.name}"]').scroll_into_view_if_needed()
        places, words, examples = page.evaluate(EVERY_SETTING, [asked.name, 150])
        assert places == 1, (palette, width, examples)
        assert words > 5


@EACH
def test_without_a_script_and_on_paper_the_first_setting_is_told(visit: Callable[..., Any], asked: Asked) -> None:
    """A reader without a script would see controls that do nothing, or results without the setting they belong to."""
    page = visit(asked.path).page
    box = page.locator(f'[data-explorer="{asked.name}"]')
    expect(box.locator(".ln-controls")).to_be_visible()
    expect(box.locator(".ln-setting")).to_be_hidden()
    said = page.evaluate(READ, asked.name)
    page.emulate_media(media="print")
    without = visit(asked.path, java_script_enabled=False).page.locator(f'[data-explorer="{asked.name}"]')
    for shown in (box, without):
        shown.scroll_into_view_if_needed()
        expect(shown.locator(".ln-controls")).to_be_hidden()
        expect(shown.locator(".ln-foot a")).to_be_hidden()
        expect(shown.locator(".ln-setting")).to_be_visible()
    told = without.locator(".ln-setting").text_content()
    assert all(f"{label}: " in told for label in asked.labels.values())
    cells = without.locator("[data-result]")
    assert [text for texts in said.values() for text in texts] == cells.all_text_contents()


def test_results_that_do_not_load_are_told_and_asked_for_again(visit: Callable[..., Any]) -> None:
    """A reader on a train would see a control move, and believe the results of another setting."""
    each = first_with("range(")
    page = visit(each.path, fresh=True).page
    before, start = page.evaluate(READ, each.name), page.evaluate(STATE, each.name)
    page.route("**/explorers/*.json", lambda route: route.abort())
    tab_to(page, each.name, 0)
    page.keyboard.press("ArrowLeft")
    said = page.locator(f'[data-explorer="{each.name}"] .ln-said')
    page.wait_for_function("said => said.textContent.includes('could not be loaded')", arg=said.element_handle())
    assert said.is_visible()
    assert start == page.evaluate(STATE, each.name)
    assert before == page.evaluate(READ, each.name)
    page.unroute_all()
    page.keyboard.press("Home")
    page.wait_for_function(f"name => ({STATE})(name)[0] === 0", arg=each.name)
    page.wait_for_function(
        "said => said.textContent !== '' && !said.textContent.includes('could not')", arg=said.element_handle()
    )
    assert before != page.evaluate(READ, each.name)


def test_nothing_is_loaded_before_it_is_used(visit: Callable[..., Any]) -> None:
    """Every reader would pay for results that few ask for."""
    each = EXPLORERS[0]
    page = visit("", fresh=True).page
    asked_for: list[str] = []
    page.on("request", lambda request: asked_for.append(request.url))
    page.goto(page.url + each.path)
    page.wait_for_load_state("networkidle")
    assert [] == [url for url in asked_for if url.endswith(".json") and "/explorers/" in url]
    with page.expect_response("**/explorers/*.json"):
        page.locator(f'[data-explorer="{each.name}"] .ln-control').first.hover()
