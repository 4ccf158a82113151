"""Processes that crowd and die, in small: `tests/benchmarks/conversation_soak.py` does the same with large numbers."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from lesson_code.conversation import Store
from tests.benchmarks import conversation_soak
from tests.benchmarks.conversation_soak import SHARED, exchange, exchanges_of, killed, rows_read, together


def test_processes_that_write_at_once(tmp_path: Path) -> None:
    """An exchange would be lost, or torn apart by another, or a process fail because the file is busy."""
    faults: list[str] = []
    crowd = together(tmp_path / "crowd.db", 4, 40, faults)
    assert [] == faults
    assert (4, 0, 4 * 40, 4 * 40, 4) == (crowd.processes, crowd.failed, crowd.reported, crowd.stored, crowd.in_order)


def test_two_processes_that_open_a_new_file_at_once(tmp_path: Path) -> None:
    """The second to come would find half a schema, or fail because the first is making it."""
    for attempt in range(3):
        faults: list[str] = []
        crowd = together(tmp_path / f"new{attempt}.db", 2, 1, faults)
        assert [] == faults
        assert (0, 2) == (crowd.failed, crowd.stored)


def test_processes_that_are_killed(tmp_path: Path) -> None:
    """A killed process would leave half an exchange or a broken file, or take back what it had reported as stored."""
    faults: list[str] = []
    deaths = killed(tmp_path, 8, faults)
    assert [] == faults
    assert (8, 8, 8) == (deaths.runs, deaths.opened, deaths.intact)
    assert 8 == deaths.places.total()
    assert (2, 2) == (deaths.places["outside, by report"], deaths.places["outside, by growth"])


def test_rows_that_an_answer_reads() -> None:
    """An answer in a long conversation would read all of it, and take longer with each day."""
    faults: list[str] = []
    rows = rows_read(2_000, faults, budget=100)
    assert [] == faults
    # The new message takes 2 + 4 tokens, each of the others 4 + 4; one more is read to see that it does not fit.
    assert ((100 - 6) // 8, (100 - 6) // 8 + 1) == (rows.held, rows.read)


# What the soak would see.


@contextmanager
def store_with(path: Path, *messages: tuple[str, str]) -> Iterator[Store]:
    """A store with these roles and texts in the shared session, however wrong."""
    Store(path).close()
    with closing(sqlite3.connect(path)) as db, db:
        rows = [(SHARED, role, text) for role, text in messages]
        db.executemany("INSERT INTO messages (session, role, content, created) VALUES (?, ?, ?, 0)", rows)
    with Store(path) as store:
        yield store


FIRST, SECOND = exchange("ada", 1), exchange("bob", 2, 5)


@pytest.mark.parametrize(
    "messages",
    [
        [("user", FIRST[0])],
        [("assistant", FIRST[1])],
        [("assistant", FIRST[1]), ("user", FIRST[0])],
        [("user", FIRST[0]), ("user", FIRST[1])],
        [("user", FIRST[0]), ("assistant", SECOND[1])],
        [("user", SECOND[0]), ("assistant", SECOND[1][:-1])],
    ],
)
def test_what_is_no_whole_exchange_is_a_fault(tmp_path: Path, messages: list[tuple[str, str]]) -> None:
    """The soak would be content with half an exchange, a cut one, or one that others are mixed into."""
    faults: list[str] = []
    with store_with(tmp_path / "a.db", *messages) as store:
        assert [] == exchanges_of(store.messages(SHARED), faults)
    assert 1 == len(faults)


def test_whole_exchanges_are_none(tmp_path: Path) -> None:
    """The soak would call everything a fault."""
    faults: list[str] = []
    texts = [*zip(("user", "assistant"), FIRST, strict=True), *zip(("user", "assistant"), SECOND, strict=True)]
    with store_with(tmp_path / "a.db", *texts) as store:
        assert [("ada", 1), ("bob", 2)] == exchanges_of(store.messages(SHARED), faults)
    assert [] == faults


def test_the_command_counts_and_ends_well() -> None:
    """The soak could not be run, or would not say what it has counted."""
    small = ["--processes", "2", "--exchanges", "2", "--kills", "1", "--stored", "3000"]
    done = subprocess.run(
        [sys.executable, "-W", "error", conversation_soak.__file__, *small], capture_output=True, text=True, check=False
    )
    assert ("", 0) == (done.stderr, done.returncode)
    assert "4 exchanges reported as stored, 4 found, whole and once each" in done.stdout
    assert "killed: 1 processes while they wrote" in done.stdout
    assert re.search(r"with 3,000 messages stored, of which the window holds 249, an answer reads 250\n", done.stdout)
    assert "\n0 faults\n" in done.stdout
