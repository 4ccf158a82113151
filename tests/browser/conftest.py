"""The built site in a real Chromium.

The browser tests need the package `playwright` and a Chromium: Debian's `chromium`, or any other whose path is in the
variable CHROMIUM. Without them they are skipped and say so; with BROWSER_TESTS=required that is a failure.
"""

from __future__ import annotations

import gzip
import http.server
import os
import shutil
import threading
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

ROOT = Path(__file__).parents[2]
BUDGET = tomllib.loads((Path(__file__).parent / "budget.toml").read_text(encoding="utf-8"))
SUB_PATH = "some/where"
"""The site is served below a path, as on many hosts, so that an absolute link is seen."""


def missing(what: str) -> None:
    """Skip, or fail where a browser is required."""
    reason = f"{what}: see Browser tests on the page Contributing"
    if os.environ.get("BROWSER_TESTS") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


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
        body, kind = file.read_bytes(), self.guess_type(str(file))
        self.send_response(status)
        if kind.startswith(("text/", "application/j", "image/svg")):
            body = gzip.compress(body, 6, mtime=0)
            self.send_header("Content-Encoding", "gzip")
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
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed")
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        missing("there is no Chromium")
    switches = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as playwright:
        switches += ["--disable-sync", "--no-first-run"]
        running = playwright.chromium.launch(executable_path=program, args=switches)
        yield running
        running.close()


def pages() -> list[str]:
    """The address of every page of the site, below its root, from the files of `docs`."""
    docs = ROOT / "docs"
    names = [path.relative_to(docs).with_suffix("").as_posix() for path in sorted(docs.rglob("*.md"))]
    return ["" if name == "index" else f"{name.removesuffix('/index')}/" for name in names]


class Visit:
    """One page in one window, with all that went wrong in it."""

    def __init__(self, context: Any, address: str) -> None:
        """Open an empty window whose errors and requests are noted."""
        self.address = address
        self.page = context.new_page()
        self.errors: list[str] = []
        self.foreign: list[str] = []
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self._asked)

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.foreign.append(request.url)

    def to(self, path: str) -> Any:
        """Go to a page of the site and wait until it is quiet."""
        self.page.goto(self.address + path)
        self.page.wait_for_load_state("networkidle")
        return self.page


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Any]:
    """A function that opens windows, with Playwright's options of a context; all are closed at the end."""
    contexts = []

    def opened(path: str = "", **options: Any) -> Visit:
        contexts.append(browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options}))
        window = Visit(contexts[-1], address)
        window.to(path)
        return window

    yield opened
    for context in contexts:
        context.close()
