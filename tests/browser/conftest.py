"""The built site in a real Chromium.

The browser tests need the package `playwright` and a Chromium: Debian's `chromium`, or any other whose path is in the
variable CHROMIUM. They run where BROWSER_TESTS is set, as they take long; what is missing is skipped and says so, or
fails with BROWSER_TESTS=required.
"""

from __future__ import annotations

import gzip
import http.server
import os
import shutil
import threading
import tomllib
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

ROOT = Path(__file__).parents[2]
BUDGET = tomllib.loads((Path(__file__).parent / "budget.toml").read_text(encoding="utf-8"))
SUB_PATH = "some/where"
"""The site is served below a path, as on many hosts, so that an absolute link is seen."""

SMALL, LARGE = BUDGET["widths"]
LOOKS = [(palette, width) for width in (SMALL, LARGE) for palette in BUDGET["palettes"]]
SCHEMES = {"light": "default", "dark": "slate"}
"""The palettes by the names that the theme has for them."""


def missing(what: str) -> None:
    """Skip, or fail where a browser is required."""
    reason = f"{what}: see Browser tests on the page Contributing"
    if os.environ.get("BROWSER_TESTS") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


@cache
def compressed(file: Path, _changed: int) -> bytes:
    """A file as it is sent: compressed once, until it changes."""
    return gzip.compress(file.read_bytes(), 6, mtime=0)


class Compressing(http.server.SimpleHTTPRequestHandler):
    """Serves a folder below a path, compressed as hosts do, and logs nothing."""

    extensions_map: ClassVar[dict[str, str]] = {
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
    }

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer with the file, compressed where it is text."""
        path = self.path.partition("?")[0].partition("#")[0]
        if not path.startswith(f"/{SUB_PATH}/"):
            self.send_error(404)
            return
        file = Path(self.translate_path(path.removeprefix(f"/{SUB_PATH}")))
        if file.is_dir() and not path.endswith("/"):
            self.send_response(301)
            self.send_header("Location", f"{path}/")
            self.end_headers()
            return
        file = file / "index.html" if file.is_dir() else file
        status, file = (200, file) if file.is_file() else (404, Path(self.directory) / "404.html")
        kind = self.guess_type(str(file))
        self.send_response(status)
        if kind.startswith(("text/", "application/j", "image/svg")):
            body = compressed(file, file.stat().st_mtime_ns)
            self.send_header("Content-Encoding", "gzip")
        else:
            body = file.read_bytes()
        self.send_header("Content-Type", kind + ("; charset=utf-8" if kind.startswith("text/") else ""))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(scope="session")
def address(built: Path) -> Iterator[str]:
    """Where the site is served; ends with a slash."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Compressing, directory=str(built)))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/{SUB_PATH}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A running Chromium."""
    if not os.environ.get("BROWSER_TESTS"):
        missing("BROWSER_TESTS is not set")
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError:
        missing("playwright is not installed")
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        missing("there is no Chromium")
    switches = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    expect.set_options(timeout=30_000)  # a busy machine takes its time
    with sync_playwright() as playwright:
        switches += ["--disable-sync", "--no-first-run"]
        running = playwright.chromium.launch(executable_path=program, args=switches)
        yield running
        running.close()


def pages() -> list[str]:
    """The address of every page of the site, below its root, from the files of `docs`.

    The reference has dozens of pages that are made by the same two calls; those that the budget names stand for all
    of them. With BROWSER_PAGES=all each is looked at.
    """
    docs = ROOT / "docs"
    names = [path.relative_to(docs).with_suffix("").as_posix() for path in sorted(docs.rglob("*.md"))]
    found = ["" if name == "index" else f"{name.removesuffix('/index')}/" for name in names]
    alike = [path for path in found if path.count("/") > 2 and path not in BUDGET["stand_for_all"]]
    return found if os.environ.get("BROWSER_PAGES") == "all" else [path for path in found if path not in alike]


class Visit:
    """One page in one window, with all that went wrong in it."""

    def __init__(self, page: Any, address: str) -> None:
        """Note the errors and requests of a window from now on."""
        self.address = address
        self.page = page
        self.errors: list[str] = []
        self.foreign: list[str] = []
        self._noted = {"console": self._said, "pageerror": self._broke, "request": self._asked}
        for event, note in self._noted.items():
            self.page.on(event, note)

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _broke(self, error: Any) -> None:
        self.errors.append(str(error))

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.foreign.append(request.url)

    def to(self, path: str, quiet: bool = False) -> Any:
        """Go to a page of the site and wait until its scripts have run, or until nothing is loaded any more."""
        self.page.goto(self.address + path)
        if quiet:
            self.page.wait_for_load_state("networkidle")
        return self.page

    def leave(self) -> None:
        """Leave the window as it was, for the next visit."""
        for event, note in self._noted.items():
            self.page.remove_listener(event, note)
        self.page.evaluate("location.protocol === 'http:' && (localStorage.clear(), sessionStorage.clear())")
        self.page.goto("about:blank")


def look(page: Any, palette: str, width: int) -> None:
    """Change the palette, with the switch that readers have, and the width of the window; wait until both are there.

    One visit can so be looked at in every way. The theme asks for the palette of the system once, when a page opens.
    """
    page.set_viewport_size({"width": width, "height": page.viewport_size["height"]})
    if page.evaluate("document.body.dataset.mdColorScheme") != SCHEMES[palette]:
        page.evaluate(
            "(option) => document.querySelector(option).click()", f".md-option[data-md-color-scheme={SCHEMES[palette]}]"
        )
    page.wait_for_function(
        "([scheme, width]) => document.body.dataset.mdColorScheme === scheme && innerWidth === width",
        arg=[SCHEMES[palette], width],
    )
    painted(page)


def painted(page: Any) -> None:
    """Wait until what was asked for stands on the screen."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


OPEN_ALL = "document.querySelectorAll('details').forEach(details => details.open = true)"

AT_ONCE = "* { content-visibility: visible !important }"
"""What is far below the view is laid out when it comes near. With this style, all of it is there at once."""


WATCH = """
window.shifts = [];
new PerformanceObserver((list) => {
    for (const {value, hadRecentInput, sources} of list.getEntries()) {
        const moved = sources.map(({node}) => (node?.outerHTML ?? node?.nodeName ?? "").slice(0, 120));
        if (!hadRecentInput) window.shifts.push({value, moved});
    }
}).observe({type: "layout-shift", buffered: true});
"""


LAID_OUT = """() => [...document.querySelectorAll("article *")].every(
    (block) => getComputedStyle(block).contentVisibility !== "auto")"""


def moved(page: Any) -> list[dict[str, Any]]:
    """What moved by itself since a watched window was opened, while it is scrolled and answers are opened.

    As soon as somebody is at the page, it lays out what waits; that may move nothing in view either.
    """
    page.mouse.move(100, 300)
    page.mouse.move(110, 310)
    page.wait_for_function(LAID_OUT, polling=200)
    for place in (0.2, 0.4, 0.6, 0.8, 1):
        page.evaluate("(place) => scrollTo(0, place * document.documentElement.scrollHeight)", place)
        painted(page)
    opened = []
    for folded in page.locator("article details > summary").all()[:8]:
        if folded.is_visible():
            folded.click()
            opened.append(folded)
    painted(page)
    shifts: list[dict[str, Any]] = page.evaluate("shifts")
    for folded in opened:
        folded.evaluate("summary => summary.parentElement.toggleAttribute('open')")
    return shifts


@pytest.fixture(scope="session")
def windows(browser: Any) -> Iterator[dict[tuple[bool, bool], list[Any]]]:
    """Windows that are open and free: with or without scripts, and watched for what moves or not."""
    free: dict[tuple[bool, bool], list[Any]] = {}
    yield free
    for page in (page for pages in free.values() for page in pages):
        page.context.close()


SHARED = {"viewport", "color_scheme", "reduced_motion", "java_script_enabled"}


@pytest.fixture
def visit(browser: Any, address: str, windows: dict[tuple[bool, bool], list[Any]]) -> Iterator[Any]:
    """A function that opens windows, with Playwright's options of a context.

    To open one takes longer than most pages do, so tests hand windows on, emptied. One that is `fresh`, or has unusual
    options, is new, and closed at the end: for what depends on what was loaded before, and for a test that changes more
    than the page. A window that is `watched` loads all anew and knows what moved in it; `moved` asks it.
    """
    taken: list[tuple[Visit, tuple[bool, bool] | None]] = []

    def opened(
        path: str | None = "", fresh: bool = False, watched: bool = False, quiet: bool = False, **options: Any
    ) -> Visit:
        options = {"viewport": {"width": LARGE, "height": 900}, **options}
        kind = (options.get("java_script_enabled", True), watched)
        pooled = not fresh and options.keys() <= SHARED
        if pooled and windows.get(kind):
            page = windows[kind].pop()
            page.set_viewport_size(options["viewport"])
            page.mouse.move(0, 0)
        else:
            page = browser.new_context(**options).new_page()
            if watched:
                page.add_init_script(WATCH)
                session = page.context.new_cdp_session(page)
                session.send("Network.enable")
                session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        media = {"color_scheme": "light", "reduced_motion": "no-preference", **options}
        page.emulate_media(media="screen", color_scheme=media["color_scheme"], reduced_motion=media["reduced_motion"])
        window = Visit(page, address)
        taken.append((window, kind if pooled else None))
        if path is not None:
            window.to(path, quiet)
        return window

    yield opened
    for window, kind in taken:
        if kind is None or window.page.is_closed():
            window.page.context.close()
        else:
            window.leave()
            windows.setdefault(kind, []).append(window.page)
