"""`mkdocs serve` while somebody edits: what is saved shows, a fault is seen on the page, and the server lives on.

A real server is driven over HTTP. Nothing sleeps: the server's own reload address answers when a build is done.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.tiny_site import TinySite

PAGE = "docs/lessons/cats.md"
CODE = "lesson_code/cats.py"
WAIT_S = 60


class Server:
    """A running `mkdocs serve`."""

    def __init__(self, site: TinySite, log: IO[str]) -> None:
        """Start it and wait until it says that it serves."""
        self.site = site
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-m", "mkdocs", "serve", "-a", self.address],
            cwd=site.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            log.write(line)
            if "Serving on" in line:
                break
        else:
            pytest.fail("the server ended before it served")

    def get(self, path: str) -> str:
        """Fetch an address of the server."""
        with urllib.request.urlopen(f"http://{self.address}/{path}", timeout=WAIT_S) as answer:
            return str(answer.read().decode("utf-8"))

    def page(self) -> str:
        """The page as it is served now."""
        return self.get("lessons/cats/")

    def after(self, edit: Callable[[], None], shows: str) -> str:
        """The page after an edit; it must show a text after at most a few rebuilds."""
        epoch = re.search(r"livereload\((\d+)", self.page())
        assert epoch is not None
        edit()
        for _ in range(3):  # one save can be noticed as two
            new = self.get(f"livereload/{epoch[1]}/1")
            page = self.page()
            if shows in page:
                return page
            epoch = re.match(r"(\d+)", new)
            assert epoch is not None
        return page


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good site, accepted, whose lesson is a package with a submodule."""
    site = TinySite(tmp_path_factory.mktemp("good"), accept=False)
    code = site.path(CODE).read_text(encoding="utf-8")
    site.path(CODE).unlink()
    site.write("lesson_code/cats/__init__.py", code.replace("LEGS = 4", "from lesson_code.cats.body import LEGS"))
    site.write("lesson_code/cats/body.py", '"""A body."""\n\nLEGS = 4\n')
    site.edit("mkdocs.yml", "strict: true", "strict: true\nwatch: [lesson_code, tests]")
    assert site.run("accept") == 0
    return site.root


@contextmanager
def served(site: TinySite, tmp_path: Path) -> Iterator[Server]:
    """A server on a site, which must live until its end."""
    with (tmp_path / "log").open("w") as log:
        running = Server(site, log)
        try:
            yield running
            assert running.process.poll() is None, "the server has ended"
        finally:
            running.process.terminate()
            running.process.communicate()


@pytest.fixture
def server(good: Path, tmp_path: Path) -> Iterator[Server]:
    """A server on a copy of the good site."""
    with served(TinySite(tmp_path / "site", copy_of=good), tmp_path) as running:
        yield running


def figure(value: int, expression: str) -> str:
    """A figure as it stands in the page."""
    return f'value="{value}" data-expr="{expression}"'


def test_what_is_saved_shows(server: Server) -> None:
    """An editor who saves and does not see it saved builds by hand, or trusts an old figure."""
    site = server.site
    page = server.page()
    assert figure(12, "legs(3)") in page
    assert "would not be published" not in page

    page = server.after(lambda: site.edit(PAGE, "# Legs", "# The legs of cats"), "The legs of cats")
    assert "The legs of cats" in page

    # A submodule: every figure of the page from the new code, the example too.
    page = server.after(lambda: site.edit("lesson_code/cats/body.py", "LEGS = 4", "LEGS = 5"), figure(15, "legs(3)"))
    assert figure(15, "legs(3)") in page
    assert figure(25_000, "legs(5000)") in page
    assert figure(5, "LEGS") in page
    assert figure(12, "legs(3)") not in page
    assert re.search(r"<pre>.*15 legs", page.replace("\n", "")) is not None
    assert "changed figure: legs(3)" in page

    # The module itself, and back again within the same second.
    page = server.after(
        lambda: site.edit("lesson_code/cats/__init__.py", "cats * LEGS", "cats * LEGS * 2"), figure(30, "legs(3)")
    )
    assert figure(30, "legs(3)") in page
    page = server.after(
        lambda: site.edit("lesson_code/cats/__init__.py", "cats * LEGS * 2", "cats * LEGS * 3"), figure(45, "legs(3)")
    )
    assert figure(45, "legs(3)") in page


DOGS = """
import os


def dogs(kennels):
    with open("computed.log", "a") as log:
        log.write(f"{kennels} {os.getpid()}\\n")
    return kennels * 2
"""


def test_nothing_is_computed_again_whose_code_did_not_change(good: Path, tmp_path: Path) -> None:
    """An editor would wait for every simulation of the site after each save, of prose or of another lesson."""
    site = TinySite(tmp_path / "site", copy_of=good)
    site.write("lesson_code/dogs.py", DOGS)
    site.edit(PAGE, "# Legs", '[[= number("dogs.dogs(7)") =]] dogs.\n\n# Legs')
    site.write(
        "tests/test_dogs.py", "from lesson_code import dogs\n\n\ndef test_dogs():\n    assert 14 == dogs.dogs(7)\n"
    )
    assert site.run("accept") == 0
    site.write("computed.log", "")

    def computed() -> int:
        return len(site.path("computed.log").read_text(encoding="utf-8").splitlines())

    with served(site, tmp_path) as server:
        assert figure(14, "dogs.dogs(7)") in server.page()
        assert computed() == 1
        server.after(lambda: site.edit(PAGE, "# Legs", "# Paws"), "Paws")
        server.after(lambda: site.edit("lesson_code/cats/body.py", "LEGS = 4", "LEGS = 5"), figure(15, "legs(3)"))
        more = '# [[= number("LEGS + 1", "words") =]] Paws'
        page = server.after(lambda: site.edit(PAGE, "# Paws", more), ">six</data>")
        assert ">six</data>" in page
        assert figure(14, "dogs.dogs(7)") in page
        assert computed() == 1
        page = server.after(
            lambda: site.edit("lesson_code/dogs.py", "kennels * 2", "kennels * 3"), figure(21, "dogs.dogs(7)")
        )
        assert figure(21, "dogs.dogs(7)") in page


@pytest.mark.parametrize(
    ("file", "old", "new", "shows"),
    [
        (PAGE, "# Legs", "# Legs, 9 lives", "typed number: &#x27;9&#x27;"),
        (PAGE, "(#more)", "(#most)", "#most"),
        (PAGE, 'number("LEGS")', 'number("LGES")', "undefined name: LGES"),
        (PAGE, 'number("LEGS") =]]', 'number("LEGS" =]]', "broken macro"),
        (PAGE, 'print(legs(3), "legs")', "import sys; sys.exit(0)", "the code called sys.exit(0)"),
        ("lesson_code/cats/body.py", "LEGS = 4", "LEGS = = 4", "invalid syntax"),
        ("lesson_code/cats/body.py", "LEGS = 4", "LEGS = four", "name &#x27;four&#x27; is not defined"),
        ("tests/test_cats.py", "def test_legs():", "def test_legs(:", "invalid syntax"),
        ("docs/sources.toml", "[vet]", "[vet", "unreadable sources"),
        ("docs/typed_numbers.toml", "units =", "units", "unreadable allow-list"),
        ("docs/numbers.lock", "['lessons", "[lessons", "unreadable ledger"),
    ],
)
def test_a_fault_is_shown_and_heals(server: Server, file: str, old: str, new: str, shows: str) -> None:
    """A fault that ends the server, or that stays on the page once it is mended, costs the editor a restart."""
    before = server.site.path(file).read_text(encoding="utf-8")
    page = server.after(lambda: server.site.edit(file, old, new), shows)
    assert "This page would not be published" in page
    assert shows in page
    page = server.after(lambda: server.site.write(file, before), figure(12, "legs(3)"))
    assert "would not be published" not in page
    assert figure(12, "legs(3)") in page


def test_it_starts_with_a_fault(good: Path, tmp_path: Path) -> None:
    """An editor who comes back to a broken page must be able to start the server to mend it."""
    site = TinySite(tmp_path / "site", copy_of=good)
    site.edit(PAGE, "# Legs", "# Legs, 9 lives")
    with served(site, tmp_path) as server:
        assert "typed number" in server.page()
