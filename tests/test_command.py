"""The command `live-numbers`: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from live_numbers import ledger
from tests.tiny_site import TinySite


def locked(site: TinySite) -> str:
    """The text of the ledger."""
    return site.path("docs/numbers.lock").read_text(encoding="utf-8")


def test_check_counts_what_it_checked(site: TinySite, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the counts, a check that looked at nothing would look like one that found nothing."""
    assert site.run("check") == 0
    said = capsys.readouterr().out
    # legs(3), legs(5_000) and LEGS; legs(3) and LEGS stand twice; one example; one citation; three inputs.
    assert "1 pages: 3 computed figures, quoted 5 times; 1 outputs and pictures; 1 citations; 3 inputs." in said
    assert "3 of 3 computed figures independently asserted (100 %)" in said


def test_check_never_writes(site: TinySite) -> None:
    """A gate that repairs what it finds is none."""
    site.edit("lesson_code/cats.py", "LEGS = 4", "LEGS = 5")
    before = {path: path.read_bytes() for path in site.root.rglob("*") if path.is_file()}
    assert site.run("check") == 1
    assert {path: path.read_bytes() for path in site.root.rglob("*") if path.is_file()} == before


def test_check_demands_that_the_assertion_passes(site: TinySite, capsys: pytest.CaptureFixture[str]) -> None:
    """An assertion that never runs proves nothing, however right it looks."""
    site.edit("tests/test_cats.py", "def test_legs():", "def test_legs():\n    if LEGS:\n        return")
    assert site.run("check") == 1
    assert "unconfirmed figure: legs(3): the assertion at tests/test_cats.py:8 did not run" in capsys.readouterr().err


def test_accept_writes_what_changed(site: TinySite, capsys: pytest.CaptureFixture[str]) -> None:
    """The person who accepts must see both values, and the next check must pass."""
    site.edit("lesson_code/cats.py", "LEGS = 4", "LEGS = 5")
    tests = site.path("tests/test_cats.py").read_text(encoding="utf-8")
    for old, new in (("* 4", "* 5"), ("3 + 1", "3 + 2"), ("[4, 8, 12]", "[5, 10, 15]")):
        tests = tests.replace(old, new)
    site.write("tests/test_cats.py", tests)
    assert site.run("accept") == 0
    said = capsys.readouterr().out
    assert "-'legs(3)' = [12, \"12\"]" in said
    assert "+'legs(3)' = [15, \"15\"]" in said
    assert site.run("check") == 0


def test_accept_refuses_while_something_else_is_wrong(site: TinySite, capsys: pytest.CaptureFixture[str]) -> None:
    """A typed number would slip into a commit that says it only accepts a figure."""
    site.edit(
        "docs/lessons/cats.md",
        "Every Leg-2000",
        "It has 9 lives. [[= number('legs(3) * 5_000') =]] Every Leg-2000",
    )
    before = locked(site)
    assert site.run("accept") == 1
    said = capsys.readouterr().err
    assert "typed number: '9'" in said
    assert "unasserted figure" in said
    assert "new figure" not in said
    assert "nothing was accepted" in said
    assert locked(site) == before


def test_accept_refuses_while_the_test_still_says_the_old_value(site: TinySite) -> None:
    """The hand-worked value is the second opinion; accepting past it would make the ledger the only one."""
    site.edit("lesson_code/cats.py", "LEGS = 4", "LEGS = 5")
    before = locked(site)
    assert site.run("accept") == 1
    assert locked(site) == before


def test_accept_one_expression_or_one_page(site: TinySite) -> None:
    """Two people who accept different figures must not have to take each other's."""
    site.edit("docs/lessons/cats.md", 'number("legs(5_000)")', 'number("legs(5_000)", "plain")')
    site.edit("docs/lessons/cats.md", 'number("LEGS", "words")', 'number("LEGS", "Words")')
    assert site.run("accept", "legs(5_000)") == 0
    entries = ledger.read(site.path("docs/numbers.lock"))["lessons/cats.md"]
    assert entries["legs(5000)"] == [20_000, "20000"]
    assert entries["LEGS"] == [4, "4", "four"]
    assert site.run("accept", "docs/lessons/cats.md") == 0
    assert ledger.read(site.path("docs/numbers.lock"))["lessons/cats.md"]["LEGS"] == [4, "4", "Four"]
    assert site.run("check") == 0


def test_accept_of_something_unknown(site: TinySite, capsys: pytest.CaptureFixture[str]) -> None:
    """A slip of the pen must not look like success."""
    assert site.run("accept", "legs(4)") == 2
    assert "'legs(4)' is neither a page nor a figure" in capsys.readouterr().err


def test_show_lists_every_figure_with_its_expression(site: TinySite, capsys: pytest.CaptureFixture[str]) -> None:
    """A reviewer reads the figures of a page here without building it."""
    assert site.run("show", "docs/lessons/cats.md") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["20,000", "legs(5000)"] in lines
    assert ["4", "vet.legs", "source"] in lines
    assert site.run("show", "docs/lessons/dogs.md") == 2
    assert "there is no page 'docs/lessons/dogs.md'" in capsys.readouterr().err


def test_explain_names_value_code_and_test(site: TinySite, capsys: pytest.CaptureFixture[str]) -> None:
    """Who doubts a figure asks here."""
    assert site.run("explain", "legs(5_000)") == 0
    said = capsys.readouterr().out
    assert "legs(5_000) = 20000" in said
    assert "in full: lesson_code.cats.legs(5000)" in said
    assert "asserted by hand: 5_000 * 4  (tests/test_cats.py::test_legs, line 8)" in said
    assert "quoted on: lessons/cats.md" in said
    assert site.run("explain", "legs(") == 2
    assert site.run("explain", "legs(1) / 0") == 2
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (("mkdocs.yml", "site_name: Tiny", "site_nam: Tiny"), "cannot be built"),
        (("mkdocs.yml", "modules: [live_numbers]", "modules: []"), "does not load live_numbers"),
    ],
)
def test_a_site_that_cannot_be_built(
    site: TinySite, edit: tuple[str, str, str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command must say so in a sentence, not in a traceback."""
    site.edit(*edit)
    assert site.run("check") == 2
    assert says in capsys.readouterr().err


def test_outside_a_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Run in the wrong folder, the command must say what is missing."""
    from live_numbers.command import main

    assert main(["--root", str(tmp_path), "check"]) == 2
    assert "run this where mkdocs.yml lies" in capsys.readouterr().err


SNAPSHOT = {"layers": 36, "heads": 8}


@pytest.fixture
def live(site: TinySite) -> Iterator[dict[str, bytes]]:
    """A server on this machine that stands in for the source's address; what it answers can be changed."""
    answer = {"body": json.dumps(SNAPSHOT).encode()}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer["body"])

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    site.edit("docs/sources.toml", "https://example.org/cat", f"http://127.0.0.1:{server.server_port}/")
    site.edit("docs/sources.toml", 'read = "read in May"', 'read = "read in May"\nsnapshot = "cat.json"')
    site.write("cat.json", json.dumps(SNAPSHOT))
    yield answer
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (json.dumps(SNAPSHOT), 0, "the snapshot equals the live document"),
        (json.dumps({"layers": 40, "window": 9}), 1, "heads: snapshot 8, live has no such field"),
        (json.dumps({"layers": 40, "window": 9}), 1, "layers: snapshot 36, live 40"),
        (json.dumps({"layers": 40, "window": 9}), 1, "window: snapshot has no such field, live 9"),
        ("<html>", 1, "not JSON"),
        ("[]", 1, "not an object"),
    ],
)
def test_sources_against_the_live_document(
    site: TinySite,
    live: dict[str, bytes],
    body: str,
    status: int,
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A source that changed after it was read must be named field by field."""
    live["body"] = body.encode()
    assert site.run("sources", "--fetch") == status
    said = capsys.readouterr()
    assert says in said.out + said.err


def test_sources_without_a_network(site: TinySite, live: dict[str, bytes], capsys: pytest.CaptureFixture[str]) -> None:
    """No network is not the same as a changed source: it has a message and a status of its own."""
    content = site.path("docs/sources.toml").read_text()
    site.write("docs/sources.toml", content.replace("http://127.0.0.1:", "http://127.0.0.1:1/x"))
    assert site.run("sources", "--fetch") == 3
    assert "cannot be reached" in capsys.readouterr().err


def test_sources_are_listed(site: TinySite, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --fetch the command needs no network."""
    assert site.run("sources") == 0
    assert "vet: A vet, The cat (read in May); 1 figures\n  https://example.org/cat" in capsys.readouterr().out
