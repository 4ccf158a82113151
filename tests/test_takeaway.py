"""What is put on the site for the reader's browser: Python, the lessons, and what each example says of itself."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from live_numbers import run_example
from live_numbers.dependencies import Code
from live_numbers.evaluate import Evaluator
from live_numbers.takeaway import COPIED, PACKAGES, SITE, Takeaway
from tests.test_build import build
from tests.tiny_site import TinySite

ROOT = Path(__file__).parent.parent
PAGE = "site/lessons/cats/index.html"


def with_python(site: TinySite) -> TinySite:
    """The site with files in the place of the npm package, small enough to count."""
    for name in COPIED:
        site.write(f".ci/node_modules/pyodide/{name}", name * 100)
    known = {"info": {"python": "3.14"}, "packages": {"numpy": {"file_name": "numpy.whl"}}}
    site.write(f".ci/node_modules/pyodide/{PACKAGES}", json.dumps(known))
    return site


def offered(site: TinySite) -> dict[str, str]:
    """What the example of the page says of itself."""
    block = re.search(r'<div class="ln-block"[^>]*>', site.path(PAGE).read_text(encoding="utf-8"))
    assert block is not None
    return dict(re.findall(r'data-(\w+)="([^"]*)"', block[0]))


def test_without_python_nothing_is_offered(site: TinySite) -> None:
    """A Run button that leads nowhere; the site must be whole without the npm package, and say so only when asked."""
    done = build(site.root)
    assert done.returncode == 0, done.stderr
    assert "examples get no Run button: `npm ci --prefix .ci`" in done.stderr
    assert offered(site) == {"block": "count"}
    assert not site.path("site/assets").exists()
    assert "Run button" not in build(site.root, "-q").stderr


@pytest.mark.parametrize("gone", [*COPIED, PACKAGES])
def test_with_a_file_missing_nothing_is_offered(site: TinySite, gone: str) -> None:
    """Half an interpreter would be loaded, at full cost, and fail."""
    with_python(site).path(f".ci/node_modules/pyodide/{gone}").unlink()
    assert not Takeaway(site.project, Code(site.project)).complete


def test_with_python_the_site_has_all_that_the_browser_asks_for(site: TinySite) -> None:
    """A file that was not copied, or a size that is not true."""
    done = build(with_python(site).root)
    assert done.returncode == 0, done.stderr
    assert "Run button" not in done.stderr
    folder = site.path(f"site/{SITE}")
    said = offered(site)
    assert {*COPIED, PACKAGES, said["run"]} == {path.name for path in folder.iterdir()}
    for name in COPIED:
        assert site.path(f".ci/node_modules/pyodide/{name}").read_bytes() == (folder / name).read_bytes()
    assert {"info": {"python": "3.14"}, "packages": {}} == json.loads((folder / PACKAGES).read_bytes())
    assert "0.0" == said["megabytes"]


def test_the_size_is_that_of_the_files_as_they_are_sent(site: TinySite) -> None:
    """What a click costs would be told wrongly."""
    noise = bytes(range(256)) * 3_000
    with_python(site).path(".ci/node_modules/pyodide/python_stdlib.zip").write_bytes(noise)
    site.path(".ci/node_modules/pyodide/pyodide.asm.wasm").write_bytes(noise)
    assert len(gzip.compress(noise)) < 50_000
    assert "0.8" == Takeaway(site.project, Code(site.project)).megabytes  # 768,000 bytes as they are, and little else


def test_the_archive_holds_the_lessons_and_nothing_else(site: TinySite) -> None:
    """A data file that is missing there, or tests and caches that nobody asked for."""
    site.write("lesson_code/legs.json", "[4]")
    site.write("lesson_code/__pycache__/cats.pyc", "old")
    takeaway = Takeaway(site.project, Code(site.project))
    with zipfile.ZipFile(io.BytesIO(takeaway.archive)) as archive:
        names = archive.namelist()
        assert ["lesson_code/__init__.py", "lesson_code/cats.py", "lesson_code/legs.json", "run_example.py"] == names
        assert site.path("lesson_code/cats.py").read_bytes() == archive.read("lesson_code/cats.py")
        assert Path(run_example.__file__).read_bytes() == archive.read("run_example.py")


def test_the_archive_is_the_same_for_the_same_sources_only(site: TinySite) -> None:
    """A name that changes by itself is loaded again for nothing; one that stays brings old lessons from a cache."""
    first = Takeaway(site.project, Code(site.project))
    site.path("lesson_code/cats.py").touch()
    again = Takeaway(site.project, Code(site.project))
    assert first.archive == again.archive
    assert first.archive_name == again.archive_name
    site.edit("lesson_code/cats.py", "LEGS = 4", "LEGS = 5")
    assert first.archive_name != Takeaway(site.project, Code(site.project)).archive_name


NEEDY = {
    "import subprocess, sys\nsubprocess.run([sys.executable, '-c', ''])": ("processes",),
    "import os\nos.system('')": ("processes",),
    "import threading\nthreading.Thread(target=int).start()": ("threads",),
    "import asyncio\nasyncio.run(asyncio.to_thread(int))": ("threads",),
    "import socket\nwith socket.socket() as s:\n    s.bind(('127.0.0.1', 0))": ("connections",),
    "import socket, threading\nthreading.Thread(target=socket.getaddrinfo, args=('127.0.0.1', 0)).run()": (
        "connections",
    ),
    "import markupsafe": ("the package markupsafe",),
    "from markupsafe import escape": ("the package markupsafe",),
    "import markupsafe, os\nos.system('')": ("processes", "the package markupsafe"),
    "import lesson_code.cats, json\nfrom os import path\nprint(1)": (),
    "import asyncio\nasyncio.run(asyncio.sleep(0))": (),
    "try:\n    import no_such_package\nexcept ImportError:\n    pass": (),
    "import logging.config, subprocess, threading, socket": (),
}


@pytest.fixture(scope="module")
def evaluator(good: Path) -> Iterator[Evaluator]:
    """A process in which the examples run."""
    project = TinySite(good.parent / "needy", copy_of=good).project
    evaluator = Evaluator(project, Code(project))
    yield evaluator
    evaluator.close()


@pytest.mark.parametrize("code", NEEDY)
def test_what_an_example_needs_is_found_by_running_it(evaluator: Evaluator, code: str) -> None:
    """A button on an example that cannot run in a browser; or none on one that only imports what it does not use."""
    outcome = evaluator.block(code)
    assert outcome.error == ""
    assert outcome.needs == NEEDY[code]


def test_an_example_that_cannot_run_there_says_what_it_needs(site: TinySite) -> None:
    """It would get a button, and fail; or neither button nor reason."""
    site.edit("lesson_code/cats.py", "return cats * LEGS", "import markupsafe\n    return cats * LEGS")
    assert build(with_python(site).root, "-q").returncode == 0
    assert offered(site) == {"block": "count", "needs": "the package markupsafe"}


def test_a_faulty_build_leaves_nothing_of_it(site: TinySite) -> None:
    """What a faulty build had written there would be published with the next upload."""
    with_python(site).edit("lesson_code/cats.py", "LEGS = 4", "LEGS = 5")
    assert build(site.root, "-q").returncode != 0
    assert [path for path in site.path("site").rglob("*") if path.is_file()] == []


def test_the_lock_names_packages_and_hashes_and_no_host() -> None:
    """An address in the lock ties every reader of it to one machine's registry."""
    lock = json.loads((ROOT / ".ci" / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert len(packages) > 3
    assert all(re.fullmatch(r"sha512-[A-Za-z0-9+/]+=*", package["integrity"]) for package in packages.values())
    assert re.findall(r"\w+://|resolved", json.dumps(lock)) == []
    wanted = json.loads((ROOT / ".ci" / "package.json").read_text(encoding="utf-8"))
    for name, version in {**wanted["dependencies"], **wanted["devDependencies"]}.items():
        assert version == packages[f"node_modules/{name}"]["version"]
