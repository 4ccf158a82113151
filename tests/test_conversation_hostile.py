"""Conversation state under attack: damaged files, full disks, strange places for a file, and users who mean harm."""

from __future__ import annotations

import asyncio
import io
import os
import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from lesson_code.conversation import FakeProvider, Store, StoreError, window
from lesson_code.conversation.bot import LONGEST_ARGUMENT, Bot
from lesson_code.conversation.terminal import main

ROOT = Path(__file__).parent.parent
PAGE = 4096
SESSIONS = ("one", "two")


def program(folder: Path, *arguments: str, said: str | None = "", more: str = "") -> subprocess.CompletedProcess[str]:
    """Run the chat with this as its input (None: closed), and `more` for the shell."""
    command = " ".join([f'"{sys.executable}" -W error -m lesson_code.conversation "$@"', more])
    return subprocess.run(
        ["sh", "-c", command + (" <&-" if said is None else ""), "sh", *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        input=said,
        capture_output=True,
        text=True,
        check=False,
    )


def exchanges(store: Store, session: str) -> list[str]:
    """The texts of a session, of which each second answers the one before."""
    texts = [message["content"] for message in store.messages(session)]
    assert [text.replace("question", "answer") for text in texts[::2]] == texts[1::2]
    return texts


# Damage.


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of some pages, and a copy of it with a log that was not yet written back."""
    folder = tmp_path_factory.mktemp("healthy")
    with Store(folder / "closed.db") as store:
        for number in range(40):
            store.add_exchange(SESSIONS[number % 2], f"question {number}" + " ?" * 300, f"answer {number}" + " ?" * 300)
        store.add_fact("one", "I am Ada.")
        store.set_summary("one", "So far so good.", 2)
    with Store(folder / "open.db") as store:
        for number in range(20):
            store.add_exchange("one", f"question {number}", f"answer {number}")
        for suffix in ("", "-wal"):
            (folder / f"copy.db{suffix}").write_bytes((folder / f"open.db{suffix}").read_bytes())
    return folder


def flipped(data: bytearray, chance: random.Random) -> bytearray:
    """Change some bytes."""
    for _ in range(chance.randrange(1, 40)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return data


def emptied(data: bytearray, chance: random.Random) -> bytearray:
    """Overwrite a page with zeros."""
    start = chance.randrange(len(data) // PAGE) * PAGE
    data[start : start + PAGE] = bytes(PAGE)
    return data


def mixed_up(data: bytearray, chance: random.Random) -> bytearray:
    """Write one page over another."""
    one, other = (chance.randrange(len(data) // PAGE) * PAGE for _ in range(2))
    data[one : one + PAGE] = data[other : other + PAGE]
    return data


def cut(data: bytearray, chance: random.Random) -> bytearray:
    """Cut the end off."""
    return data[: chance.randrange(1, len(data))]


@pytest.mark.parametrize("damage", [flipped, emptied, mixed_up, cut])
def test_a_damaged_file_is_an_error_that_names_it(
    healthy: Path, tmp_path: Path, damage: Callable[[bytearray, random.Random], bytearray]
) -> None:
    """Damage would end in a traceback of another kind, or in a file that is silently begun anew."""
    data = (healthy / "closed.db").read_bytes()
    said = {}
    for seed in range(25):
        path = tmp_path / f"{seed}.db"
        path.write_bytes(damage(bytearray(data), random.Random(seed)))
        try:
            with Store(path) as store:
                for session in SESSIONS:
                    store.export(session)
                store.add_exchange("one", "question", "answer")
                store.add_fact("one", "I am Bob.")
                store.clear_session("two")
                store.vacuum()
        except StoreError as error:
            said[path] = str(error)
    # SQLite has no checksums: what hits only a text is not seen.
    assert said
    assert all(error.startswith(f"{path}: ") for path, error in said.items())


@pytest.mark.parametrize("damage", [flipped, cut])
def test_a_damaged_log_loses_its_end_alone(
    healthy: Path, tmp_path: Path, damage: Callable[[bytearray, random.Random], bytearray]
) -> None:
    """A log that was cut off by a power failure would bring back half an exchange, or one without those before it."""
    database, log = (healthy / "copy.db").read_bytes(), (healthy / "copy.db-wal").read_bytes()
    lengths = set()
    for seed in range(25):
        path = tmp_path / f"{seed}.db"
        path.write_bytes(database)
        Path(f"{path}-wal").write_bytes(damage(bytearray(log), random.Random(seed)))
        with Store(path) as store:
            found = exchanges(store, "one")
        assert [f"question {number}" for number in range(len(found) // 2)] == found[::2]
        lengths.add(len(found))
    assert len(lengths) > 1  # so the damage was real


# A full disk.

UNTIL_THE_DISK_IS_FULL = """
import resource, sys
from lesson_code.conversation import Store, StoreError

said = set()
for limit in range(0, 150_000, 5_000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        with Store(sys.argv[1]) as store:
            for number in range(len(store.messages("one")) // 2, 100):
                store.add_exchange("one", f"question {number}" + " ?" * 500, f"answer {number}" + " ?" * 500)
    except StoreError as error:
        said.add(str(error))
print(*said, sep="\\n")
"""


def test_a_disk_that_is_full_at_any_moment(tmp_path: Path) -> None:
    """A disk that fills up in the middle of a write, or of making the file, would leave half an exchange."""
    path = tmp_path / "full.db"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", UNTIL_THE_DISK_IS_FULL, path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ("", 0) == (done.stderr, done.returncode)
    assert done.stdout
    assert all(line.startswith(f"{path}: ") for line in done.stdout.splitlines())
    with Store(path) as store:
        found = exchanges(store, "one")
        assert [f"question {number}" + " ?" * 500 for number in range(len(found) // 2)] == found[::2]
        assert 0 < len(found) < 200
        store.add_exchange("one", "question", "answer")


# Places where a file can be, and where it cannot.


def make_pipe(path: Path) -> None:
    """A pipe at a path: who opens it may wait for ever."""
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("folder", Path.mkdir),
        ("pipe", make_pipe),
        ("missing/a.db", None),
        ("a.db/b.db", lambda path: path.parent.write_text("a file, no folder")),
        ("loop", lambda path: path.symlink_to(path)),
        ("/dev/null", None),
        ("/dev/full", None),
        ("x" * 300, None),
    ],
)
def test_places_for_no_file(tmp_path: Path, name: str, make: Callable[[Path], object] | None) -> None:
    """The chat would end in a traceback, or wait for ever."""
    if make:
        make(tmp_path / name)
    done = program(tmp_path, "--db", name, said="Hello!\n")
    assert ("", 2) == (done.stdout, done.returncode)
    assert done.stderr.startswith(f"error: {name}: ")
    assert 1 == len(done.stderr.splitlines())


@pytest.mark.parametrize("name", ["-a.db", "a b?c#d%20.db", "é\u202e.db", "'; DROP TABLE messages; --", "a\nb.db"])
def test_strange_names(tmp_path: Path, name: str) -> None:
    """A name would be taken for an option or an address, and the conversation be somewhere else."""
    done = program(tmp_path, f"--db={name}", f"--session={name}", f"--user={name}", said="Hello!\n/remember x\n")
    assert ("", 0) == (done.stderr, done.returncode)
    assert [name] == [path.name for path in tmp_path.iterdir()]
    with Store(tmp_path / name) as store:
        assert 2 == len(store.messages(name))
        assert ["x"] == [fact["text"] for fact in store.facts(name)]


# The ends of the program's pipes.


def test_no_input_at_all(tmp_path: Path) -> None:
    """A program that is started without an input, as services are, would end in a traceback."""
    done = program(tmp_path, "--db", "a.db", said=None)
    assert ("", "", 0) == (done.stdout, done.stderr, done.returncode)


def test_answers_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A full disk where the answers go would end in a traceback."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("Hello!\n"))
    with suppress(OSError), open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert 1 == main(["--db", str(tmp_path / "b.db")])
        monkeypatch.undo()
    assert "error: the answer cannot be written: [Errno 28] No space left on device\n" == capsys.readouterr().err


def test_answers_that_cannot_be_written_in_a_process(tmp_path: Path) -> None:
    """As above, where the program ends and writes what is left."""
    done = program(tmp_path, "--db", "a.db", said="Hello!\nHello?\n", more=">/dev/full")
    assert ("", 1) == (done.stdout, done.returncode)
    assert "error: the answer cannot be written: [Errno 28] No space left on device\n" == done.stderr
    with Store(tmp_path / "a.db") as store:
        assert ["Hello!"] == [message["content"] for message in store.messages("terminal")][::2]


# Users who mean harm.


def test_a_message_of_a_megabyte(tmp_path: Path) -> None:
    """A long message would be cut, or fail, or be read back otherwise."""
    text = "€" * 2**20
    done = program(tmp_path, "--db", "a.db", said=f"{text}\n")
    assert (f"(fake) I was sent 1 message(s); the last was: '{text}'\n", "", 0) == (
        done.stdout,
        done.stderr,
        done.returncode,
    )
    with Store(tmp_path / "a.db") as store:
        assert text == store.messages("terminal")[0]["content"]


def test_a_fact_of_a_megabyte_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """One user could stop the bot for all, a second for each megabyte."""
    looked_at = 0
    visible = window._visible

    def counted(character: str) -> str:
        nonlocal looked_at
        looked_at += 1
        return visible(character)

    monkeypatch.setattr(window, "_visible", counted)
    with Store() as store:
        answer = asyncio.run(Bot(FakeProvider(), store=store).handle("terminal", "/remember " + "x" * 2**20))
        assert "Remembered as #1. Only its first 200 characters are kept." == answer
        assert ["x" * 200] == [fact["text"] for fact in store.facts("terminal")]
    assert LONGEST_ARGUMENT == looked_at


def test_a_fact_whose_end_is_not_looked_at_is_said_to_be_cut() -> None:
    """What is lost of a fact would be lost without a word."""
    with Store() as store:
        bot = Bot(FakeProvider(), store=store)
        answer = asyncio.run(bot.handle("terminal", "/remember I am" + " " * LONGEST_ARGUMENT + "Ada."))
        assert "Remembered as #1. Only its first 200 characters are kept." == answer
        assert ["I am"] == [fact["text"] for fact in store.facts("terminal")]
