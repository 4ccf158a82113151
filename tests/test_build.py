"""What `mkdocs build` does with a faulty site, whatever its switches: it ends in failure and publishes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lxml import html

from tests.tiny_site import TinySite

ROOT = Path(__file__).parent.parent


def build(root: Path, *switches: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `mkdocs build` as a person would."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", *switches],
        cwd=root,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", **environment},
        check=False,
    )


SWITCHES = [(), ("--strict",), ("--no-strict",), ("-q",), ("-q", "--strict"), ("-v",)]


@pytest.mark.parametrize("switches", SWITCHES, ids=" ".join)
def test_a_changed_figure_fails_the_build(site: TinySite, switches: tuple[str, ...]) -> None:
    """With one of these switches a wrong figure would be published, as mkdocs alone does with -q --strict."""
    assert build(site.root, *switches).returncode == 0
    assert site.path("site/lessons/cats/index.html").exists()
    site.edit("lesson_code/cats.py", "LEGS = 4", "LEGS = 5")
    done = build(site.root, *switches)
    assert done.returncode != 0
    line = site.line("cats have [[")
    assert f"docs/lessons/cats.md:{line}: changed figure: legs(3)" in done.stderr, done.stderr
    assert "accepted 12" in done.stderr
    assert "now      15" in done.stderr
    assert [path for path in site.path("site").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("switches", SWITCHES, ids=" ".join)
@pytest.mark.parametrize("text", ["It costs 12,345 legs.", "I saw seven cats.", "[Up](#most)"])
def test_typed_numbers_and_broken_anchors_fail_the_build(site: TinySite, switches: tuple[str, ...], text: str) -> None:
    """The typed-number check and the builder's own warnings must hold with every switch too."""
    site.edit("docs/lessons/cats.md", "Every Leg-2000", f"{text} Every Leg-2000")
    done = build(site.root, *switches)
    assert done.returncode != 0
    assert f"docs/lessons/cats.md:{site.line(text)}: " in done.stderr, done.stderr
    assert [path for path in site.path("site").rglob("*") if path.is_file()] == []


BROKEN_CHECK = """
import live_numbers.gate
from mkdocs.__main__ import cli

def judge(*_):
    raise RuntimeError("the check is broken")

live_numbers.gate.judge = judge
cli(["build", "-q"])
"""


def test_a_broken_check_publishes_nothing(site: TinySite) -> None:
    """The pages are written before they are checked; an error in between would leave them unchecked."""
    done = subprocess.run(
        [sys.executable, "-c", BROKEN_CHECK], cwd=site.root, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "the check failed: RuntimeError('the check is broken')" in done.stderr
    assert [path for path in site.path("site").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    "edit",
    [
        ("seconds: 60", "seconds: soon"),
        ("seconds: 60", "seconds: 0"),
        ("extra: {live_numbers: {seconds: 60}}", "extra: {live_numbers: [60]}"),
    ],
)
def test_settings_that_are_none(site: TinySite, edit: tuple[str, str]) -> None:
    """A slip in mkdocs.yml would end in a traceback and leave the site of an earlier build standing."""
    assert build(site.root).returncode == 0
    site.edit("mkdocs.yml", *edit)
    done = build(site.root)
    assert done.returncode != 0
    assert "must be like `live_numbers: {seconds: 60}`" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path for path in site.path("site").rglob("*") if path.is_file()] == []


def test_dirty_builds_are_refused(site: TinySite) -> None:
    """A build of some pages would take the figures of the others for gone."""
    done = build(site.root, "--dirty")
    assert done.returncode != 0
    assert "--dirty builds only some pages" in done.stderr


def test_annotations_on_a_pull_request(site: TinySite) -> None:
    """Without them a reviewer would have to search the log for the line."""
    site.edit("lesson_code/cats.py", "LEGS = 4", "LEGS = 5")
    done = build(site.root, GITHUB_ACTIONS="true")
    assert f"::error file=docs/lessons/cats.md,line={site.line('## More')},title=changed figure::" in done.stderr


def test_the_machinery_is_not_published(built: Path) -> None:
    """The package, the ledger and the theme's templates lie in docs/, and a plain build would publish them."""
    files = [path for path in built.rglob("*") if path.is_file()]
    known = {".html", ".css", ".js", ".map", ".svg", ".png", ".json", ".xml", ".gz"}
    python = {".mjs", ".wasm", ".zip"}  # for the Run buttons, where it is installed
    assert {path.name for path in files if path.suffix not in known | python} == {"index.md", "llms.txt"}
    assert all(path.with_suffix(".html").exists() for path in files if path.suffix == ".md")
    names = {path.name for path in built.rglob("*")}
    assert names.isdisjoint({"live_numbers", "overrides", "numbers.lock", "requirements.txt", "sources.toml"})
    foreign = [
        path.name
        for path in built.rglob("*.html")
        if html.parse(str(path)).xpath(
            "//*[starts-with(@src, 'http')] | //link[not(@rel='canonical')][starts-with(@href, 'http')]"
        )
    ]
    assert foreign == []
