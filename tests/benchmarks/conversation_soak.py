"""What happens to stored conversations when processes crowd and die: `python tests/benchmarks/conversation_soak.py`.

Eight processes write to one new file at once; five hundred processes are killed while they write; and the rows are
counted that an answer in a long conversation reads. It prints the counts, and exits with 1 if anything is lost, halved
or out of order. The tests run the same functions with smaller numbers.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from lesson_code.conversation import FakeProvider, Store, StoredMessage, StoreError, message_cost  # noqa: E402 - the path is set first
from lesson_code.conversation.bot import Bot  # noqa: E402 - as above

SHARED = "shared"
KILLS_PER_FILE = 25
SEED = 20261021

# How a process is killed: from outside when it has reported so many exchanges, or when the file has grown by so many
# bytes, or by itself at so many statements or instructions of SQLite's machine. Characters in each text, and the latest
# moment of each kind: texts of the second size fill the log, so that it is written back to the file; those of the third
# do not fit SQLite's cache, and take long enough to write that a kill falls into the middle.
KINDS = ("report", "growth", "statement", "instruction")
SIZES = {
    100: (40, 100_000, 60, 3_000),
    20_000: (40, 8_000_000, 60, 3_000),
    1_500_000: (2, 10_000_000, 12, 200),
}


def main() -> int:
    """Run everything, with the full numbers unless others are given; 1 if there is a fault."""
    parser = argparse.ArgumentParser(description="Crowd the store, kill its writers, count the rows it reads.")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--exchanges", type=int, default=500, help="for each process")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--stored", type=int, default=100_000, help="messages in the long conversation")
    options = parser.parse_args()
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        print(together(Path(folder, "crowd.db"), options.processes, options.exchanges, faults), flush=True)
        print(killed(Path(folder), options.kills, faults), flush=True)
    print(rows_read(options.stored, faults))
    print(*faults[:20], f"{len(faults)} faults", sep="\n")
    return 1 if faults else 0


# What is written, and what must be found.


def exchange(writer: str, number: int, size: int = 0) -> tuple[str, str]:
    """The question and the answer that a process writes, padded to a size."""
    return f"{writer} asks {number} {'?' * size}", f"{writer} is told {number} {'!' * size}"


def exchanges_of(messages: list[StoredMessage], faults: list[str]) -> list[tuple[str, int]]:
    """Who wrote which exchange, in order; whatever is no whole exchange is a fault."""
    found = []
    for start in range(0, len(messages), 2):
        pair = messages[start : start + 2]
        writer, _, number, *_ = pair[0]["content"].split()
        whole = exchange(writer, int(number), pair[0]["content"].count("?")) if number.isdigit() else ()
        if [("user", *whole[:1]), ("assistant", *whole[1:])] == [(m["role"], m["content"]) for m in pair]:
            found.append((writer, int(number)))
        else:
            faults.append(f"no whole exchange: {[(m['id'], m['role'], m['content'][:40]) for m in pair]}")
    return found


def is_intact(path: Path) -> bool:
    """Whether SQLite finds nothing wrong with the file and its indexes."""
    with closing(sqlite3.connect(path)) as db:
        return [("ok",)] == db.execute("PRAGMA integrity_check").fetchall()


# A crowd.


class Crowd(NamedTuple):
    """What came of several processes that wrote to one file at once."""

    processes: int
    failed: int
    reported: int
    stored: int
    in_order: int
    turns: int

    def __str__(self) -> str:
        return (
            f"together: {self.processes} processes opened one new file and wrote at once, {self.failed} failed\n"
            f"  {self.reported:,} exchanges reported as stored, {self.stored:,} found, whole and once each\n"
            f"  {self.in_order} of {self.processes} processes find theirs in their order, in both their sessions\n"
            f"  in the session that all wrote to, the writer changed {self.turns:,} times"
        )


def together(path: Path, processes: int, exchanges: int, faults: list[str]) -> Crowd:
    """Let processes write to one file at once, each to a session of its own and to one that all share, in turn."""
    names = [f"writer{n}" for n in range(processes)]
    children = [_child("write", path, name, exchanges) for name in names]
    for child in children:
        child.stdout.readline()  # it has started, and waits
    for child in children:
        child.stdin.write(b"go\n")
    done = [child.communicate() for child in children]
    failed = [child for child, (_, err) in zip(children, done, strict=True) if child.returncode or err]
    faults += [f"a writer failed: {err.decode()}" for _, err in done if err]

    with Store(path) as store:
        sessions = {name: exchanges_of(store.messages(name), faults) for name in [*names, SHARED]}
    found = Counter(itertools.chain.from_iterable(sessions.values()))
    in_order = 0
    for name in names:
        own = sessions[name] == [(name, n) for n in range(0, exchanges, 2)]
        shared = [n for writer, n in sessions[SHARED] if writer == name] == [*range(1, exchanges, 2)]
        in_order += own and shared
        if not own or not shared:
            faults.append(f"{name}: exchanges are missing, or not in their order")
    if len(found) != found.total() or len(found) != processes * exchanges:
        faults.append(f"{found.total()} exchanges found, {len(found)} of them different, not {processes * exchanges}")
    if not is_intact(path):
        faults.append("integrity_check fails after the crowd")
    reported = sum(len(out.split()) for out, _ in done)
    turns = sum(one != other for (one, _), (other, _) in itertools.pairwise(sessions[SHARED]))
    return Crowd(processes, len(failed), reported, len(found), in_order, turns)


# Kills.


class Deaths(NamedTuple):
    """What came of processes that were killed while they wrote."""

    runs: int
    places: Counter[str]
    logs: int
    reported: int
    unreported: int
    opened: int
    intact: int

    def __str__(self) -> str:
        places = ", ".join(f"{place} {count}" for place, count in sorted(self.places.items()))
        return (
            f"killed: {self.runs} processes while they wrote, {KILLS_PER_FILE} after each other on each file\n"
            f"  by where: {places}\n"
            f"  {self.logs} left a log to recover from; {self.opened} files opened again, {self.intact} intact\n"
            f"  {self.reported:,} exchanges reported as stored, all found; {self.unreported} more that were stored"
            " before they could be reported"
        )


def killed(folder: Path, runs: int, faults: list[str]) -> Deaths:
    """Kill a process while it writes, again and again, and look at what is left."""
    places: Counter[str] = Counter()
    logs = reported = unreported = opened = intact = 0
    stored = 0
    for run in range(runs):
        path = folder / f"killed-{run // KILLS_PER_FILE}.db"
        stored = stored if path.exists() else 0
        place, said = _kill_once(path, run, stored, faults)
        places[place] += 1
        reported += said
        logs += Path(f"{path}-wal").exists() and Path(f"{path}-wal").stat().st_size > 0

        try:
            with Store(path) as store:
                found = exchanges_of(store.messages(SHARED), faults)
        except StoreError as error:
            faults.append(f"run {run}, {place}: it does not open again: {error}")
            path.unlink()
            continue
        opened += 1
        intact += is_intact(path)
        expected = [("killed", n) for n in range(len(found))]
        if found != expected or not stored + said <= len(found) <= stored + said + 1:
            faults.append(f"run {run}, {place}: {stored} + {said} reported, {len(found)} found")
        unreported += len(found) - stored - said
        stored = len(found)
    if intact != runs:
        faults.append(f"integrity_check fails after {runs - intact} kills")
    return Deaths(runs, places, logs, reported, unreported, opened, intact)


def _kill_once(path: Path, run: int, first: int, faults: list[str]) -> tuple[str, int]:
    """Start a writer and kill it: say where, and how many exchanges it had reported."""
    chance = random.Random(f"{SEED} {run}")
    kind = KINDS[run % len(KINDS)]
    size = chance.choice([*SIZES])
    after = chance.randrange(1, SIZES[size][run % len(KINDS)])
    before = _bytes(path)
    with _child("until-killed", path, first, size, kind, after) as child:
        seen = []
        if kind == "report":
            seen = [child.stdout.readline() for _ in range(after)]
        while kind == "growth" and child.poll() is None and _bytes(path) < before + after:
            pass
        if kind in ("report", "growth"):
            child.kill()
        out, err = child.communicate()
    if child.returncode != -signal.SIGKILL:
        faults.append(f"run {run}: it ended by itself: {err.decode()}")
    return err.decode() or f"outside, by {kind}", len(seen) + out.count(b"\n")


def _bytes(path: Path) -> int:
    """The size of the file and its log together."""
    return sum(part.stat().st_size for part in (path, Path(f"{path}-wal")) if part.exists())


# The processes that write, and die.


def _child(*arguments: object) -> subprocess.Popen[bytes]:
    """Start this file as another process; its pipes have no buffer here, so that nothing said is overlooked."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", __file__, "--child", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )


def write(path: str, name: str, count: str) -> None:
    """Wait for the start, open the file, and write exchanges to two sessions in turn, each reported when stored.

    Before each it reads what an answer would be read from, as a bot does.
    """
    print("ready", flush=True)
    input()
    with Store(path) as store:
        for number in range(int(count)):
            session = SHARED if number % 2 else name
            with closing(store.newest(session)) as stored:
                for _message in itertools.islice(stored, 100):
                    pass
            store.add_exchange(session, *exchange(name, number))
            os.write(1, b"stored\n")


def write_until_killed(path: str, first: str, size: str, kind: str, after: str) -> None:
    """Write exchanges, each reported when stored, until somebody kills it, or it kills itself at a chosen moment."""
    moments = itertools.count(1)
    now = "opening"
    opening = True

    def moment() -> None:
        if next(moments) == int(after):
            os.write(2, f"{'at' if kind == 'statement' else 'in'} {now}".encode())
            os.kill(os.getpid(), signal.SIGKILL)

    def statement(sql: str) -> None:
        nonlocal now
        words = {"INSERT": "the answer" if "'assistant'" in sql else "the question"}
        now = "opening" if opening else words.get(sql.split()[0], sql.split()[0])
        if kind == "statement":
            moment()

    def watch(db: sqlite3.Connection) -> None:
        db.set_trace_callback(statement)
        if kind == "instruction":
            db.set_progress_handler(moment, 1)

    with watched(watch), Store(path) as store:
        opening = False
        for number in itertools.count(int(first)):
            store.add_exchange(SHARED, *exchange("killed", number, int(size)))
            os.write(1, b"stored\n")


@contextmanager
def watched(watch: Callable[[sqlite3.Connection], None]) -> Iterator[None]:
    """Let a function see every database as soon as it is opened."""
    connect = sqlite3.connect

    def connected(*arguments: Any, **options: Any) -> sqlite3.Connection:
        db = connect(*arguments, **options)
        watch(db)
        return db

    with mock.patch.object(sqlite3, "connect", connected):
        yield


# What an answer reads.


class Rows(NamedTuple):
    """What an answer reads of a long conversation."""

    stored: int
    held: int
    read: int
    steps: tuple[int, int]

    def __str__(self) -> str:
        return (
            f"rows: with {self.stored:,} messages stored, of which the window holds {self.held}, an answer reads"
            f" {self.read}\n  and takes {self.steps[1]:,} steps of SQLite's machine; in a tenth of that conversation"
            f" it takes {self.steps[0]:,}"
        )


class CountingStore(Store):
    """A store that counts the rows it is asked for."""

    rows = 0

    def newest(self, session: str, after_id: int = 0) -> Iterator[StoredMessage]:
        """Count each row on its way."""
        with closing(super().newest(session, after_id)) as rows:
            for row in rows:
                self.rows += 1
                yield row


def rows_read(stored: int, faults: list[str], budget: int = 2_000) -> Rows:
    """Count what an answer reads in a long conversation, and in one a tenth as long."""
    held, read, steps = _rows_read(stored, budget)
    _, _, fewer_steps = _rows_read(stored // 10, budget)
    if read != held + 1 or steps != fewer_steps:
        faults.append(f"{read} rows read where the window holds {held}; {steps} steps, not {fewer_steps}")
    return Rows(stored, held, read, (fewer_steps, steps))


def _rows_read(stored: int, budget: int) -> tuple[int, int, int]:
    """Count for one conversation: the messages that the window holds, the rows read, the steps taken."""
    opened: list[sqlite3.Connection] = []
    steps = itertools.count()
    with watched(opened.append), CountingStore() as store:
        for _ in range(stored // 2):
            store.add_exchange("long", "What did I say?", "You said it all.")
        opened[0].set_progress_handler(lambda: next(steps) < 0, 1)
        asyncio.run(Bot(FakeProvider(), store=store, history_budget=budget).handle("long", "And now?"))
        rows, taken = store.rows, next(steps)
        question, answer, new, _ = (message_cost(message) for message in store.messages("long")[-4:])
    assert question == answer  # so that the window holds as many of them as fit
    return (budget - new) // question, rows, taken


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        {"write": write, "until-killed": write_until_killed}[sys.argv[2]](*sys.argv[3:])
    else:
        raise SystemExit(main())
